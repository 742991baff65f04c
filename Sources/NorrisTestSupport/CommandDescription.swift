import Foundation

/// What a program says of its own command line, by `--experimental-dump-help`.
package struct CommandDescription: Decodable, Sendable {
    package let commandName: String
    /// What `--help` says below the first line.
    package let discussion: String?
    package let arguments: [Argument]?
    package let subcommands: [CommandDescription]?

    package struct Argument: Decodable, Sendable {
        let kind: String
        let names: [Name]?
        let valueName: String?
        let isRepeating: Bool

        struct Name: Decodable {
            let kind: String
            let name: String
        }

        /// `--category name`, `-h, --help`, `id` or `query ...`, as manual pages have it.
        package var signature: String {
            let names = (names ?? []).map { ($0.kind == "short" ? "-" : "--") + $0.name }.sorted { $0.count < $1.count }
            let value = valueName ?? ""
            return switch kind {
            case "positional": isRepeating ? value + " ..." : value
            case "option": names.joined(separator: ", ") + " " + value
            default: names.joined(separator: ", ")
            }
        }
    }

    /// - Parameter dump: what the program printed.
    package init(dump: String) throws {
        struct Dump: Decodable {
            let command: CommandDescription
        }
        self = try JSONDecoder().decode(Dump.self, from: Data(dump.utf8)).command
    }

    /// The lines below `Examples:`.
    package var examples: String {
        let parts = (discussion ?? "").components(separatedBy: "Examples:\n")
        return parts.count == 2 ? parts[1] : ""
    }
}
