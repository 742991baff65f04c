/// Cuts a feed into its sections, such as the items, and hands each out as a small tree; of the whole there never is
/// one.
final class XMLSections {
    /// Of one text, in bytes: more than anybody reads, and the rest is dropped.
    private static let maximumText = 256 << 10
    /// Of one section; the rest is dropped.
    private static let maximumElements = 10_000
    private static let roots: Set<XMLName> = [
        XMLName("rss"), XMLName("RDF", in: .rdf), XMLName("feed", in: .atom),
    ]

    private let section: (XMLElement) throws(UpstreamError) -> Void
    /// Of the document, and of the elements that hold sections.
    private var bases: [HTTPURL]
    /// The elements of the section that are open, the section first.
    private var open: [XMLElement] = []
    private var pending: [UInt8] = []
    private var elements = 0
    private let budget: DecodingBudget
    /// The depth inside of an element that is dropped.
    private var dropped = 0

    /// - Parameters:
    ///   - base: the document's own URL.
    ///   - section: takes the children of the root, and those of its channel.
    init(base: HTTPURL, budget: DecodingBudget, section: @escaping (XMLElement) throws(UpstreamError) -> Void) {
        bases = [base]
        self.budget = budget
        self.section = section
    }

    func start(_ name: XMLName, _ attributes: [(name: XMLName, value: String)]) throws(UpstreamError) {
        if dropped > 0 || elements >= Self.maximumElements {
            dropped += 1
            return
        }
        let outer = open.last?.base ?? bases[bases.count - 1]
        let reference = attributes.first { $0.name == XMLName("base", in: .xml) }?.value
        var base = reference.flatMap(outer.resolving) ?? outer
        // Nobody needs one that grows with each element.
        if base.description.utf8.count > XMLReader.maximumURI { base = outer }
        if reference != nil { budget.spend(bytes: base.description.utf8.count) }
        if open.isEmpty, try holdsSections(name) {
            bases.append(base)
            return
        }
        flush()
        elements += 1
        open.append(XMLElement(name: name, attributes: attributes, base: base))
    }

    private func holdsSections(_ name: XMLName) throws(UpstreamError) -> Bool {
        if bases.count > 1 { return bases.count == 2 && name == XMLName("channel") }
        guard Self.roots.contains(name) else {
            let name = UpstreamError.cut(name.local, to: 40)
            throw .unusable("answered with XML that is no feed, for its root is \(name); is url right?")
        }
        return true
    }

    func text(_ bytes: some Collection<UInt8>) {
        guard dropped == 0, !open.isEmpty else { return }
        pending += bytes.prefix(Self.maximumText - min(pending.count, Self.maximumText))
    }

    func end() throws(UpstreamError) {
        if dropped > 0 {
            dropped -= 1
            return
        }
        flush()
        guard let element = open.popLast() else {
            bases.removeLast()
            return
        }
        if open.isEmpty {
            elements = 0
            try section(element)
        } else {
            open[open.count - 1].nodes.append(.element(element))
        }
    }

    /// Puts the text that came since the last tag into the innermost element.
    private func flush() {
        guard !pending.isEmpty else { return }
        if !open.isEmpty { open[open.count - 1].nodes.append(.text(String(decoding: pending, as: UTF8.self))) }
        pending.removeAll(keepingCapacity: true)
    }
}
