import NorrisArguments
@testable import NorrisDaemon
import NorrisProtocol
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

    @Test func messageIDIsThatOfTheProgram() throws {
        let examples = page.section("JOURNAL").displays.joined()
        #expect(examples.contains("MESSAGE_ID=\(MessageID.all.first { $0.event == "server.failed" }?.id ?? "?")"))
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
