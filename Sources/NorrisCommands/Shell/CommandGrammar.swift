import ArgumentParser
import NorrisProtocol

/// The options and arguments of a command, as ArgumentParser knows them.
struct CommandGrammar {
    /// An option or a flag.
    struct Option: Equatable {
        /// With their dashes.
        let names: [String]
        let takesValue: Bool
        let isRepeating: Bool
        /// What the help says of it.
        let summary: String

        /// The name that is shown: the long one, if there is one.
        var name: String { names.first { $0.hasPrefix("--") } ?? names.first ?? "" }
    }

    /// An argument that is known by its position.
    struct Positional: Equatable {
        /// What the help calls its value.
        let name: String
        let isRepeating: Bool
    }

    private(set) var options: [Option] = []
    private(set) var positionals: [Positional] = []

    init(_ command: any SessionCommand.Type) {
        // ArgumentParser tells this only as JSON; what cannot be read is not completed.
        guard let dump = try? JSON.parse(Array(command._dumpHelp().utf8)).objectValue(),
            let arguments = try? dump.required("command", as: Members.self).object.required(
                "arguments", as: [Argument].self
            )
        else { return }
        for argument in arguments where argument.isShown {
            if argument.kind == "positional" {
                positionals.append(Positional(name: argument.valueName, isRepeating: argument.isRepeating))
            } else {
                options.append(Option(
                    names: argument.names, takesValue: argument.kind == "option", isRepeating: argument.isRepeating,
                    summary: argument.abstract
                ))
            }
        }
    }

    /// The positional argument behind so many others; nil where no more can stand.
    func positional(at index: Int) -> Positional? {
        if index < positionals.count { return positionals[index] }
        return positionals.last.flatMap { $0.isRepeating ? $0 : nil }
    }

    func option(_ name: some StringProtocol) -> Option? {
        options.first { $0.names.contains { $0 == name } }
    }
}

/// An argument in ArgumentParser's JSON.
private struct Argument: JSONDecodable {
    let kind: String
    let names: [String]
    let valueName: String
    let isRepeating: Bool
    let isShown: Bool
    let abstract: String

    init(json: JSON) throws(JSONDecodingError) {
        let object = try json.objectValue()
        kind = try object.required("kind")
        valueName = try object.optional("valueName") ?? ""
        isRepeating = try object.required("isRepeating")
        isShown = try object.required("shouldDisplay")
        abstract = try object.optional("abstract") ?? ""
        var names: [String] = []
        for name in try object.optional("names", as: [Members].self) ?? [] {
            let dashes = try name.object.required("kind") == "long" ? "--" : "-"
            names.append(dashes + (try name.object.required("name")))
        }
        self.names = names
    }
}

private struct Members: JSONDecodable {
    let object: JSONObject

    init(json: JSON) throws(JSONDecodingError) {
        object = try json.objectValue()
    }
}
