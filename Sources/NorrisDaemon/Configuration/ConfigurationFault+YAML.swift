import Yams

extension ConfigurationFault {
    /// What Yams says of a text that is no YAML.
    init(yaml error: any Error, file: String) {
        self.init(file: file, message: "")
        guard let error = error as? YamlError else {
            message = "cannot be parsed: \(error)"
            return
        }
        switch error {
        case .scanner(let context, let problem, let mark, _),
            .parser(let context, let problem, let mark, _):
            line = mark.line
            let whereabouts = context.map { " (\($0.text) that begins in line \($0.mark.line))" } ?? ""
            let advice = "check the indentation (spaces, no tabs), quotes and brackets"
            message = "is not YAML here: \(problem)\(whereabouts); \(advice)"
        case .composer(_, let problem, let mark, _):
            line = mark.line
            message = "is not YAML here: \(problem); put a text that begins with * in quotes"
        case .reader(let problem, let offset, _, let yaml):
            line = offset.map { yaml.prefix($0).utf8.count { $0 == UInt8(ascii: "\n") } + 1 }
            message = "is not YAML here: \(problem); remove the character"
        case .duplicatedKeysInMapping(let duplicates, let context):
            line = context.mark.line
            key = duplicates.first.map { ConfigurationSpot(Node(""), line: 1, path: "").path(ofKey: $0) }
            message = "stands here and again further down in the same mapping; keep one of the two"
        case .memory, .no, .writer, .emitter, .representer, .dataCouldNotBeDecoded:
            message = "cannot be parsed: \(error)"
        }
    }
}
