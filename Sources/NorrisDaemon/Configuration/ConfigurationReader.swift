import Yams

/// Walks the nodes of a file by the keys of the schema and collects everything that is wrong with it.
struct ConfigurationReader {
    /// As the messages name it.
    let file: String
    let place: ConfigurationPlace
    private(set) var faults: [ConfigurationFault] = []
    private(set) var warnings: [ConfigurationFault] = []

    init(file: String, place: ConfigurationPlace) {
        self.file = file
        self.place = place
    }

    /// Reads the keys that a mapping has, in the schema's order, and refuses those that it should not have.
    mutating func read<Root>(_ keys: [ConfigurationKey<Root>], in spot: ConfigurationSpot, into root: inout Root) {
        let names = keys.map(\.name)
        let expected = "a mapping with the keys " + names.joined(separator: ", ")
        guard let entries = entries(of: spot, expected: expected) else { return }
        for key in keys {
            guard let entry = entries.first(where: { $0.name == key.name })?.spot else { continue }
            switch key.content {
            case .section(let inner):
                read(inner, in: entry, into: &root)
            case .value(let member) where entry.isNull && !member.acceptsNull:
                let advice = member.isRequired ? "" : ", or remove the line for the default"
                refuse(entry, "has no value; write \(member.expectation)\(advice)")
            case .value(let member):
                member.read(entry, &root, &self)
            }
        }
        for entry in entries where !names.contains(entry.name) {
            refuseUnknown(entry, in: spot.path, among: names)
        }
    }

    /// The keys and values of a mapping; nil, and a fault, if it is something else.
    ///
    /// Nothing at all counts as an empty mapping: that is what is left of a section whose lines are all comments.
    mutating func entries(
        of spot: ConfigurationSpot, expected: String
    ) -> [(name: String, spot: ConfigurationSpot)]? {
        if spot.isEmpty { return [] }
        guard case .mapping(let mapping) = spot.node else {
            // A text is not quoted: where a space after a colon is missing, it may be a proxy with its password.
            if let text = spot.scalar?.text, !spot.isNull {
                let hint = text.contains(":") ? "put a space after the colon" : "put the keys below it, indented"
                refuse(spot, "expected \(expected), found a text; \(hint)")
            } else {
                refuse(spot, expected: expected)
            }
            return nil
        }
        var entries: [(name: String, spot: ConfigurationSpot)] = []
        for (key, value) in mapping {
            let line = max(spot.line, key.mark?.line ?? 0)
            guard case .scalar(let name) = key else {
                let spot = ConfigurationSpot(key, line: line, path: spot.path)
                refuse(spot, "has a list or a mapping for a key; write KEY: VALUE")
                continue
            }
            let entry = ConfigurationSpot(value, line: line, path: spot.path(ofKey: name.string))
            if acceptsTag(of: entry) { entries.append((name.string, entry)) }
        }
        return entries
    }

    /// Refuses a value with a tag that nothing here gives a meaning to.
    mutating func acceptsTag(of spot: ConfigurationSpot) -> Bool {
        guard let tag = spot.foreignTag else { return true }
        refuse(spot, "has the tag \(YAMLText.quoted(tag)), which means nothing here; remove it")
        return false
    }

    private mutating func refuseUnknown(
        _ entry: (name: String, spot: ConfigurationSpot), in section: String, among names: [String]
    ) {
        if entry.name == "<<" {
            refuse(entry.spot, "merge keys are not supported; write the keys out")
        } else {
            refuse(entry.spot, "unknown key; " + ConfigurationSchema.advice(for: entry.name, in: section, among: names))
        }
    }
}

extension ConfigurationReader {
    mutating func refuse(_ spot: ConfigurationSpot, _ sentence: String) {
        faults.append(fault(spot, sentence))
    }

    mutating func refuse(_ spot: ConfigurationSpot, expected: String, hint: String? = nil) {
        refuse(spot, "expected \(expected), found \(spot.found)" + (hint.map { "; \($0)" } ?? ""))
    }

    mutating func warn(_ spot: ConfigurationSpot, _ sentence: String) {
        warnings.append(fault(spot, sentence))
    }

    private func fault(_ spot: ConfigurationSpot, _ sentence: String) -> ConfigurationFault {
        ConfigurationFault(file: file, line: spot.line, key: spot.path.isEmpty ? nil : spot.path, message: sentence)
    }
}
