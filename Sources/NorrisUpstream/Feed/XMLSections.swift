/// Cuts a document into its sections, such as the items of a feed, and hands each out as a small tree; of the whole
/// there never is one.
final class XMLSections: XMLHandler {
    /// What to do with an element.
    enum Step {
        /// Look at its children.
        case enter
        /// Hand it out.
        case take
    }

    /// Of one text, in bytes: more than anybody reads, and what is behind is dropped.
    private static let maximumText = 256 * 1024
    /// Of one section; what comes behind is dropped.
    private static let maximumElements = 10_000

    private let step: ([XMLName]) throws(UnusableBody) -> Step
    private let section: (XMLElement) throws(UnusableBody) -> Void
    /// Of the elements that were entered.
    private var path: [XMLName] = []
    private var bases: [HTTPURL]
    /// The elements of the section that are open, the section first.
    private var open: [XMLElement] = []
    private var pending: [UInt8] = []
    private var elements = 0
    private let budget: DecodingBudget
    /// How deep inside of an element that is dropped.
    private var dropped = 0

    /// - Parameters:
    ///   - base: the document's own address.
    ///   - step: decides by the names from the root down to an element.
    init(
        base: HTTPURL,
        budget: DecodingBudget,
        step: @escaping ([XMLName]) throws(UnusableBody) -> Step,
        section: @escaping (XMLElement) throws(UnusableBody) -> Void
    ) {
        bases = [base]
        self.budget = budget
        self.step = step
        self.section = section
    }

    func start(_ name: XMLName, _ attributes: [(name: XMLName, value: String)]) throws(UnusableBody) {
        if dropped > 0 || elements >= Self.maximumElements {
            dropped += 1
            return
        }
        let outer = open.last?.base ?? bases[bases.count - 1]
        let reference = attributes.first { $0.name == XMLName("base", in: .xml) }?.value
        var base = reference.flatMap(outer.resolving) ?? outer
        // One that grows with each element is none that anybody means.
        if base.target.utf8.count > XMLReader.maximumURI { base = outer }
        if reference != nil { budget.spend(bytes: base.target.utf8.count) }
        if open.isEmpty {
            path.append(name)
            if case .enter = try step(path) {
                bases.append(base)
                return
            }
            path.removeLast()
        }
        flush()
        elements += 1
        open.append(XMLElement(name: name, attributes: attributes, base: base))
    }

    func text(_ bytes: some Collection<UInt8>) {
        guard dropped == 0, !open.isEmpty else { return }
        pending += bytes.prefix(Self.maximumText - min(pending.count, Self.maximumText))
    }

    func end() throws(UnusableBody) {
        if dropped > 0 {
            dropped -= 1
            return
        }
        flush()
        guard let element = open.popLast() else {
            // An element that was entered; each has a name and a base.
            path.removeLast()
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
