extension XMLElement {
    /// What stands in it as HTML: the names of elements, their texts, and of their attributes what pictures need.
    func innerHTML(_ budget: DecodingBudget) -> String {
        var html = ""
        appendNodes(to: &html, budget)
        return html
    }

    private func appendNodes(to html: inout String, _ budget: DecodingBudget) {
        for node in nodes where budget.isLeft {
            switch node {
            case .text(let text):
                let text = Self.escaped(text)
                budget.spend(bytes: text.utf8.count)
                html += text
            case .element(let element):
                let name = element.name.local
                html += "<\(name)"
                for attribute in Self.attributes {
                    if let value = element[attribute] { html += " \(attribute)=\"\(Self.escaped(value))\"" }
                }
                html += ">"
                element.appendNodes(to: &html, budget)
                if !Self.void.contains(name) { html += "</\(name)>" }
            }
        }
    }

    private static let attributes = ["src", "alt", "width", "height", "class"]
    /// Elements without an end tag; `</br>` would be another line.
    private static let void: Set<String> = ["br", "hr", "img"]

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
