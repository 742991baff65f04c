import NorrisProtocol

let fresh = #"{"origin":"cache","state":"fresh","fetched_at":"2026-11-21T11:00:00Z","age_seconds":3600,"error":null}"#

func fact(_ id: String, _ text: String, tags: String = "\"dev\"") -> String {
    #"{"id":"\#(id)","text":"\#(text)","categories":[\#(tags)],"source":"s","url":"https://example.org/\#(id)"}"#
}

func page(_ items: String...) -> String {
    #"{"items":[\#(items.joined(separator: ","))],"freshness":\#(fresh)}"#
}

/// Characters that must never reach a terminal: escape sequences, C0, DEL, C1, bidi controls, separators.
let hostile =
    "a\u{1B}[31mb\u{1B}]0;title\u{7}c\u{9B}2Jd\u{0}\u{8}\u{7F}e\u{85}f\u{202E}g\u{2066}\u{2028}h\r\ni\tj\u{1B}"

/// The forbidden scalars in a text. Tabs are allowed because they separate fields.
func forbidden(in text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { scalar in
        switch scalar.value {
        case 0x09, 0x0A: false
        case ..<0x20, 0x7F..<0xA0, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

/// An unread post from Ada, one day before ``Machine/now``.
func post(_ id: String, _ text: String) -> String {
    """
    {"id":"\(id)","source":"town","author":{"id":"town:7","name":"Ada","handle":"@ada","email":"ada@town.example"},\
    "published_at":"2026-11-20T11:00:00Z","text":"\(text)","tags":["day"],"images":[],\
    "stats":{"likes":12,"comments":1},"url":"https://town.example/1","read":false}
    """
}

func gif(_ id: String, _ title: String = "Cat GIF", renditions: String? = nil) -> String {
    let standard = """
        {"original":{"url":"https://media.example/\(id).gif","width":480,"height":229},\
        "hd":{"mp4":"https://media.example/\(id).mp4"}}
        """
    return """
        {"id":"\(id)","title":"\(title)","rating":"g","page_url":"https://giphy.com/gifs/\(id)","sticker":false,\
        "renditions":\(renditions ?? standard),"attribution":"Powered by GIPHY"}
        """
}
