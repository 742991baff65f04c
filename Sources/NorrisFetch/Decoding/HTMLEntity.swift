/// Decodes the character reference at the first byte, an `&`. Returns its text and its length in bytes. Supports
/// numeric and common named references, with a semicolon only, so that `a&copy=b` and `AT&T` stay unchanged.
func htmlEntity(_ bytes: ArraySlice<UInt8>) -> (text: String, length: Int)? {
    // Only a number with many leading zeros is longer.
    let limit = min(bytes.endIndex, bytes.startIndex + 16)
    guard let end = bytes[..<limit].firstIndex(where: { $0 == ";" }) else { return nil }
    let name = String(decoding: bytes[(bytes.startIndex + 1)..<end], as: UTF8.self)
    let length = end + 1 - bytes.startIndex
    guard name.utf8.first == "#" else { return named[name].map { (String($0), length) } }
    let isHex = name.dropFirst().first.map { $0 == "x" || $0 == "X" } ?? false
    let digits = name.dropFirst(isHex ? 2 : 1)
    // `UInt32(_:radix:)` would accept a sign.
    guard digits.utf8.first != "+", digits.utf8.first != "-", let number = UInt32(digits, radix: isHex ? 16 : 10)
    else { return nil }
    return (String(scalar(number)), length)
}

/// The character of a numeric reference (https://html.spec.whatwg.org, "numeric character reference end state").
/// 0x80...0x9F are bytes of Windows-1252; an invalid number becomes U+FFFD.
private func scalar(_ number: UInt32) -> Unicode.Scalar {
    if (0x80...0x9F).contains(number), let scalar = windows1252[Int(number) - 0x80] { return scalar }
    guard number != 0, let scalar = Unicode.Scalar(number) else { return "\u{FFFD}" }
    // A no-break space is layout only, and a search must find the words on both sides.
    return scalar == "\u{A0}" ? " " : scalar
}

private let windows1252: [Unicode.Scalar?] = [
    "€", nil, "‚", "ƒ", "„", "…", "†", "‡", "ˆ", "‰", "Š", "‹", "Œ", nil, "Ž", nil,
    nil, "‘", "’", "“", "”", "•", "–", "—", "˜", "™", "š", "›", "œ", nil, "ž", "Ÿ",
]

private let named: [String: Unicode.Scalar] = {
    var named: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "AMP": "&", "LT": "<", "GT": ">", "QUOT": "\"",
        "nbsp": " ", "ensp": "\u{2002}", "emsp": "\u{2003}", "thinsp": "\u{2009}", "zwnj": "\u{200C}",
        "zwj": "\u{200D}", "lrm": "\u{200E}", "rlm": "\u{200F}", "ndash": "–", "mdash": "—", "lsquo": "‘", "rsquo": "’",
        "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "lsaquo": "‹", "rsaquo": "›", "dagger": "†",
        "Dagger": "‡", "bull": "•", "hellip": "…", "permil": "‰", "prime": "′", "Prime": "″", "euro": "€", "trade": "™",
        "larr": "←", "uarr": "↑", "rarr": "→", "darr": "↓", "harr": "↔", "rArr": "⇒", "lArr": "⇐", "hArr": "⇔",
        "minus": "−", "infin": "∞", "ne": "≠", "le": "≤", "ge": "≥", "asymp": "≈", "equiv": "≡", "radic": "√",
        "sum": "∑", "prod": "∏", "part": "∂", "int": "∫", "forall": "∀", "exist": "∃", "empty": "∅", "isin": "∈",
        "cap": "∩", "cup": "∪", "sub": "⊂", "sup": "⊃", "there4": "∴", "loz": "◊", "spades": "♠", "clubs": "♣",
        "hearts": "♥", "diams": "♦", "check": "✓", "star": "☆", "starf": "★", "OElig": "Œ", "oelig": "œ", "Scaron": "Š",
        "scaron": "š", "Yuml": "Ÿ", "fnof": "ƒ", "circ": "ˆ", "tilde": "˜", "excl": "!", "num": "#", "dollar": "$",
        "percnt": "%", "lpar": "(", "rpar": ")", "ast": "*", "plus": "+", "comma": ",", "period": ".", "sol": "/",
        "colon": ":", "semi": ";", "equals": "=", "quest": "?", "commat": "@", "lsqb": "[", "lbrack": "[", "bsol": "\\",
        "rsqb": "]", "rbrack": "]", "lowbar": "_", "grave": "`", "lcub": "{", "lbrace": "{", "verbar": "|", "vert": "|",
        "rcub": "}", "rbrace": "}", "NewLine": "\n", "Tab": "\t",
    ]
    // The upper half of Latin-1 in order, from U+00A1.
    let latin1 = """
        iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro \
        para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig \
        Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times \
        Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave \
        eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave \
        uacute ucirc uuml yacute thorn yuml
        """
    // The Greek letters from U+0391 and U+03B1. The capitals have a gap in place of the final sigma.
    let capitals = """
        Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon \
        Phi Chi Psi Omega
        """
    let smalls = """
        alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau \
        upsilon phi chi psi omega
        """
    for (names, first) in [(latin1, UInt32(0xA1)), (capitals, 0x391), (smalls, 0x3B1)] {
        for (offset, name) in names.split(separator: " ").enumerated() where name != "-" {
            named[String(name)] = Unicode.Scalar(first + UInt32(offset))
        }
    }
    return named
}()
