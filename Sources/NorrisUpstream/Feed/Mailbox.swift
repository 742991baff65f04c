/// An author as RSS writes one: `jane@example.org (Jane Doe)`, `Jane Doe <jane@example.org>`, or either part alone.
struct Mailbox: Equatable {
    var name: String?
    /// In small letters; nil for one that says that nobody reads it, for then all authors of a server have the same.
    var email: String?

    init(_ text: String) {
        var name = text
        for (first, last) in [("(", ")"), ("<", ">")] {
            guard let start = text.firstIndex(of: Character(first)),
                let end = text[start...].firstIndex(of: Character(last))
            else { continue }
            let inside = String(text[text.index(after: start)..<end])
            let outside = String(text[..<start])
            if let email = cleanEmail(inside) {
                (self.email, name) = (email, outside)
            } else if let email = cleanEmail(outside) {
                (self.email, name) = (email, inside)
            }
            break
        }
        if email == nil, let email = cleanEmail(text) { (self.email, name) = (email, "") }
        self.name = cleanLine(name, upTo: 200)
        let nobody = ["noreply@", "no-reply@", "donotreply@", "do-not-reply@"]
        if let email, nobody.contains(where: email.hasPrefix) { self.email = nil }
    }
}
