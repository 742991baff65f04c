// Bytes compared with the ASCII characters that they encode: `byte == "<"`, `case "a"..."z"`.

func == (byte: UInt8, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }
func != (byte: UInt8, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
func == (byte: UInt8?, character: Unicode.Scalar) -> Bool { byte == UInt8(ascii: character) }
func != (byte: UInt8?, character: Unicode.Scalar) -> Bool { byte != UInt8(ascii: character) }
func ~= (character: Unicode.Scalar, byte: UInt8) -> Bool { byte == UInt8(ascii: character) }
func ~= (characters: ClosedRange<Unicode.Scalar>, byte: UInt8) -> Bool { characters.contains(Unicode.Scalar(byte)) }

/// Space, tab, LF or CR: the white space of XML and JSON.
func isWhiteSpace(_ byte: UInt8) -> Bool { byte == " " || byte == "\n" || byte == "\r" || byte == "\t" }

func isDigit(_ byte: UInt8) -> Bool { "0"..."9" ~= byte }

func isLetter(_ byte: UInt8) -> Bool { "a"..."z" ~= byte | 0x20 }

func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

/// Whether a text consists of ASCII digits.
func isNumber(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isDigit) }
