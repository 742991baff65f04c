import NorrisArguments
import NorrisClient
@testable import NorrisCommands
import NorrisTestSupport
import Testing

@testable import norris_manuals

struct ManualTests {
    @Test func everyCommandAndOptionIsInTheManual() throws {
        let page = try #require(ManualPart.replacement(of: #".\" insert commands"#)?.split(separator: "\n"))
        let headings = page.filter { $0.hasPrefix(".Ss ") }.dropFirst()
        #expect(headings.count == CommandList.all.count)
        for (heading, command) in zip(headings, CommandList.all) {
            #expect(heading.hasPrefix(".Ss \(([command.name] + command.aliases).joined(separator: ", "))"))
        }
        #expect(page.contains(".It Fl c , -category Ar name"))
        #expect(page.contains("Also takes \\-\\-page, \\-\\-html, \\-\\-web, \\-\\-output; see above."))
        #expect(ManualPart.replacement(of: #".\" insert options"#)?.contains(".It Fl j , -json\n") == true)
        #expect(ManualPart.replacement(of: #".\" insert statuses"#)?.contains(".It 69\n") == true)
        let kind = ".It Cm users\\-posts\nAn API that serves \\(lq/users/posts\\(rq.\n"
        #expect(ManualPart.replacement(of: #".\" insert kinds"#)?.contains(kind) == true)
        #expect(ManualPart.replacement(of: "A line.") == nil)
    }

    @Test func examplesCanBeTyped() throws {
        let help = ([Norrisctl.self] + CommandList.types.map(\.type)).flatMap { $0.help.examples }
        let runs = try (help + ManualPage("norrisctl.1").displays).flatMap {
            ShellExample.runs(of: "norrisctl", in: $0)
        }
        #expect(runs.count > 80)
        for arguments in runs {
            let machine = Machine(Array(repeating: .failure(.noSocket(paths: ["/s"])), count: 40))
            // A picture on standard output needs a pipe.
            if !arguments.contains("-") { _ = machine.onTerminal() }
            machine.input = nil
            let outcome = machine.run(arguments)
            #expect(outcome.status != .usage, "norrisctl \(arguments.joined(separator: " ")): \(outcome.errors)")
        }
    }
}
