import NorrisArguments
@testable import NorrisDaemon
import NorrisProtocol
import NorrisSystem
import NorrisTestSupport
import Testing

struct DaemonManualTests {
    private let page: ManualPage

    init() throws { page = try ManualPage("norrisd.8") }

    /// Returns the text of `--help` after some words, up to the end of the paragraph.
    private func paragraph(_ words: String) -> Substring {
        let help = Invocation.help.prose.joined(separator: "\n")
        guard let start = help.firstRange(of: words)?.upperBound else { return "" }
        return help[start...].prefix { $0 != "\n" }
    }

    @Test func optionsAreThoseOfTheProgram() {
        let taken = Invocation.descriptions.map(\.signature)
        #expect(page.section("OPTIONS").items == taken)
        let synopsis = page.section("SYNOPSIS").usage
        for signature in taken where !signature.contains(", ") { #expect(synopsis.contains(signature)) }
    }

    @Test func signalsAndExitStatusesAreThoseOfTheHelp() {
        let signals = paragraph("Signals: ").matches(of: #/SIG[A-Z]+/#).map { String($0.output) }
        #expect(page.section("SIGNALS").items == signals)
        #expect(signals.count == 3)
        let statuses = paragraph("Exit status: ").matches(of: #/\d+/#).map { String($0.output) }
        #expect(page.section("EXIT STATUS").items == statuses)
        #expect(statuses == ["0", "64", "71", "73", "75", "78"])
    }

    @Test("The message ids match the table; NORRIS_UPDATE_DOCUMENTS=1 writes them") func messageIDs() throws {
        let updated = page.replacing { _ in
            let items = MessageID.all.map { entry in
                ".It Ql \(entry.event)\n\(ManualPage.escaped(entry.meaning))\n.br\n\(entry.id)\n"
            }
            return ".Bl -tag -width Ds\n" + items.joined() + ".El\n"
        }
        if try updated.updateDocument("norrisd.8") { return }
        #expect(
            page.lines == updated.lines,
            "NORRIS_UPDATE_DOCUMENTS=1 swift test --filter DaemonManualTests updates the list.")
        let examples = page.section("JOURNAL").displays.joined()
        #expect(examples.contains("MESSAGE_ID=\(MessageID.all.first { $0.event == "server.failed" }?.id ?? "?")"))
    }

    @Test("The page lists every possible path of a file") func files() throws {
        let text = page.section("FILES").lines.joined(separator: "\n")
        let user = ["XDG_RUNTIME_DIR": "/run/user/1"]
        let service = [
            "CONFIGURATION_DIRECTORY": "/etc/norrisd", "CACHE_DIRECTORY": "/var/cache/norrisd",
            "STATE_DIRECTORY": "/var/lib/norrisd", "RUNTIME_DIRECTORY": "/run/norrisd",
        ]
        let xdg = [
            "XDG_CONFIG_HOME": "/XDG_CONFIG_HOME", "XDG_CACHE_HOME": "/XDG_CACHE_HOME",
            "XDG_STATE_HOME": "/XDG_STATE_HOME", "XDG_RUNTIME_DIR": "/XDG_RUNTIME_DIR",
        ]
        for (environment, prefix) in [(service, ""), (xdg, "$")] {
            let paths = try Paths(flags: .init(), environment: Environment(environment), accountHome: "/h")
            let places = [
                paths.configurationFile?.path, paths.cacheDirectory, paths.stateDirectory, paths.runtimeDirectory,
            ]
            for place in places.map({ $0 ?? "nowhere" }) {
                #expect(text.contains(prefix.isEmpty ? place : prefix + place.dropFirst()), "\(place)")
            }
        }
        #expect(SocketPath.listenPath(flag: nil, environment: Environment(user)) == "/run/user/1/norrisd.sock")
        #expect(text.contains("$XDG_RUNTIME_DIR/norrisd.sock"))
        #expect(text.contains(SocketPath.system))
    }

    @Test func examplesCanBeTyped() async throws {
        let examples = page.displays.joined() + Invocation.help.examples.joined(separator: "\n")
        let runs = ShellExample.runs(of: "norrisd", in: examples)
        #expect(runs.count > 5)
        for arguments in runs {
            // The program prints its version after it has checked the command line.
            let result = try await TestThread.run { try run(Programs.norrisd, arguments + ["--version"]) }
            #expect(result.status == 0, "norrisd \(arguments.joined(separator: " ")): \(result)")
            #expect(result.output == "norrisd \(NorrisVersion.current)\n")
        }
    }
}
