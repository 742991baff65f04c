/// An element with all that stands in it: one item of a feed, never the feed.
struct XMLElement {
    enum Node {
        case text(String)
        case element(XMLElement)
    }

    let name: XMLName
    let attributes: [(name: XMLName, value: String)]
    /// What relative addresses in it refer to (<https://www.w3.org/TR/xmlbase/>).
    let base: HTTPURL
    var nodes: [Node] = []

    /// The value of an attribute without a namespace; nil also if it is empty.
    subscript(_ attribute: String) -> String? {
        value(XMLName(attribute))
    }

    func value(_ attribute: XMLName) -> String? {
        attributes.first { $0.name == attribute }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    var elements: [XMLElement] {
        nodes.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    func children(_ local: String, in namespace: XMLNamespace = .none) -> [XMLElement] {
        let name = XMLName(local, in: namespace)
        return elements.filter { $0.name == name }
    }

    /// The text of all that stands in it, without markup.
    var text: String {
        var text = ""
        appendText(to: &text)
        return text
    }

    private func appendText(to text: inout String) {
        for node in nodes {
            switch node {
            case .text(let piece): text += piece
            case .element(let element): element.appendText(to: &text)
            }
        }
    }

    /// The text of the first child of a name that holds more than white space.
    func text(of local: String, in namespace: XMLNamespace = .none) -> String? {
        for child in children(local, in: namespace) {
            let text = child.text
            if !text.utf8.allSatisfy(isWhiteSpace) { return text }
        }
        return nil
    }

    /// The same as an address: without white space at its ends, resolved.
    func url(of local: String, in namespace: XMLNamespace = .none) -> String? {
        text(of: local, in: namespace).flatMap { resolved($0, at: base) }
    }
}
