import NorrisArguments
import NorrisTerminal

extension Invocation {
    func helpPage(_ layout: Layout) -> String {
        let type = type(of: command)
        var groups: [(title: String, rows: HelpPage.Rows)] = []
        type.visitCommands { title, command in
            if groups.last?.title != title { groups.append((title, [])) }
            groups[groups.count - 1].rows.append((command.name, command.help.abstract))
        }
        // Longer lines are hard to read.
        let width = min(layout.width ?? 80, 100)
        let page = HelpPage(
            name, type.help, descriptions,
            aliases: type.aliases.map { (path.dropLast() + [$0]).joined(separator: " ") },
            groups: groups, statuses: type.statuses.map { ("\($0.rawValue)", $0.meaning) },
            closing: path.count > 1
                ? "Options of every command: norrisctl --help"
                : "More about a command: norrisctl <command> --help. The manual: man norrisctl", width: width)
        var screen = Screen(layout: Layout(width: width, usesEscapes: layout.usesEscapes))
        for line in page.lines { screen.line(line.text, line.isHeading ? .bold : .normal) }
        return screen.text
    }
}
