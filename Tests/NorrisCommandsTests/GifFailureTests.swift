import NorrisClient
@testable import NorrisCommands
import NorrisProtocol
import Testing

/// What is said where the daemon has no key, or may not ask.
struct GifFailureTests {
    private static let commands = [
        ["gif"], ["gif", "cats"], ["gif", "--random"], ["gif", "--id", "x"], ["favorite", "add", "gif", "x"],
    ]

    private func error(
        _ kind: SourceFailure.Kind, _ message: String = "m", retryAt: String? = nil
    ) -> ResponseError {
        let failure = SourceFailure(
            kind: kind, message: message, since: Machine.now, retryAt: retryAt.flatMap { Timestamp($0) }
        )
        return .nothingCached("There are no GIFs.", source: "gifs", lastError: failure)
    }

    @Test(arguments: commands)
    func saysHowToGetAKeyAndWhereToPutIt(arguments: [String]) {
        let error = error(.credentials, "There is no file /x/key")
        #expect(Machine(error: error).run(arguments) == Outcome(
            errors: """
                norrisctl: There are no GIFs. There is no file /x/key.
                  Get an API key of your own at https://developers.giphy.com, and give it to norrisd.
                  To the system's: /etc/credstore/giphy-api-key, mode 0600, then: systemctl restart norrisd
                  To one of your own: gifs.api_key_file in ~/.config/norrisd/config.yaml, then: norrisctl reload

                """,
            status: .configuration
        ))
        #expect(Machine(error: error).run(arguments + ["--json"]) == Outcome(
            errors: error.jsonText + "\n", status: .configuration
        ))
    }

    @Test(arguments: [
        ("HTTP 401: Unauthorized.", "There are no GIFs. HTTP 401: Unauthorized."), ("", "There are no GIFs."),
        ("There are no GIFs", "There are no GIFs."),
    ])
    func saysOnceWhatIsWrong(detail: String, message: String) {
        let outcome = Machine(error: error(.credentials, detail)).run("gif")
        #expect(outcome.errors.hasPrefix("norrisctl: \(message)\n  Get "))
    }

    @Test(arguments: commands)
    func passesTheDaemonsHintOnWhereNothingFails(arguments: [String]) {
        var error = ResponseError.nothingCached("No GIF is stored.", source: "gifs", lastError: nil)
        error.hint = "GIFs are switched off; set gifs.enabled to true in the daemon's configuration."
        #expect(Machine(error: error).run(arguments) == Outcome(
            errors: """
                norrisctl: No GIF is stored.
                  GIFs are switched off; set gifs.enabled to true in the daemon's configuration.

                """,
            status: .temporary
        ))
    }

    @Test(arguments: commands)
    func saysWhatIsWrongAndWhenItIsTriedAgain(arguments: [String]) {
        #expect(Machine(error: error(.quota, retryAt: "2026-11-21T12:40:00Z")).run(arguments) == Outcome(
            errors: "norrisctl: There are no GIFs.\n  gifs: out of quota just now (m); next try in 40 minutes\n",
            status: .temporary
        ))
        #expect(Machine(error: error(.offline)).run(arguments) == Outcome(
            errors: "norrisctl: There are no GIFs.\n  gifs: offline just now (m)\n", status: .temporary
        ))
    }

    @Test(arguments: [
        (
            #"{"kind":"credentials","message":"There is no key for Giphy.","since":"2026-11-21T09:00:00Z"}"#,
            "gifs: without a valid key for 3 hours (There is no key for Giphy); showing what is stored"
        ),
        (
            #"{"kind":"quota","message":"","since":"2026-11-21T11:50:00Z","retry_at":"2026-11-21T12:40:00Z"}"#,
            "gifs: out of quota for 10 minutes; next try in 40 minutes; showing what is stored"
        ),
    ])
    func warnsInOneLineBesideWhatIsStored(error: String, warning: String) {
        let freshness = #"{"origin":"cache","state":"stale","error":\#(error)}"#
        let outcome = Machine(results: page(gif("a"), freshness: freshness)).run("gif", "cats")
        #expect(outcome.errors == "norrisctl: \(warning)\n")
        #expect(outcome.output.hasPrefix("a\t"))
        #expect(outcome.status == .done)
    }

    @Test func anOlderDaemonDoesNotKnowThem() {
        #expect(Machine(error: .unknownMethod("gif.search")).run("gif", "x").status == .unavailable)
    }
}
