import NorrisProtocol

/// Values that come in several types: Giphy writes numbers as texts and flags as numbers, and not always.
enum LenientJSON {
    /// A number that is not negative, in digits or in a text of digits; nil for all else, an empty text included.
    static func integer(_ json: JSON?) -> Int? {
        let number: Int? =
            switch json {
            case .integer(let number)?: Int(number)
            case .double(let number)?: Int(exactly: number)
            case .string(let text)? where text.utf8.allSatisfy { (0x30...0x39).contains($0) }: Int(text)
            default: nil
            }
        // What is larger could not be written again.
        guard let number, (0...Int(JSON.maximumInteger)).contains(number) else { return nil }
        return number
    }

    /// A number of bytes, of which 0 stands for what is not known.
    static func size(_ json: JSON?) -> Int? {
        integer(json).flatMap { $0 == 0 ? nil : $0 }
    }

    /// A number of pixels or frames; nil where no picture has so many.
    static func extent(_ json: JSON?) -> Int? {
        size(json).flatMap { $0 <= 1_000_000 ? $0 : nil }
    }

    static func flag(_ json: JSON?) -> Bool? {
        if case .bool(let flag)? = json { return flag }
        return integer(json).map { $0 != 0 }
    }

    static func string(_ json: JSON?) -> String? {
        guard case .string(let text)? = json else { return nil }
        return text
    }
}
