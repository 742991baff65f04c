import NorrisProtocol
import NorrisTerminal
import Testing

struct ColorChoiceTests {
    @Test(arguments: [
        // The flag comes first.
        (ColorChoice.always, ["NO_COLOR": "1", "CLICOLOR_FORCE": "0", "TERM": "dumb"], false, true),
        (.never, ["CLICOLOR_FORCE": "1", "TERM": "xterm"], true, false),
        // Then NO_COLOR, if it is not empty.
        (.auto, ["NO_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm"], true, false),
        (.auto, ["NO_COLOR": "0", "TERM": "xterm"], true, false),
        (.auto, ["NO_COLOR": "", "TERM": "xterm"], true, true),
        // Then CLICOLOR_FORCE, if it is neither empty nor 0.
        (.auto, ["CLICOLOR_FORCE": "1"], false, true),
        (.auto, ["CLICOLOR_FORCE": "yes", "TERM": "dumb"], true, true),
        (.auto, ["CLICOLOR_FORCE": "0"], false, false),
        (.auto, ["CLICOLOR_FORCE": ""], false, false),
        (.auto, ["CLICOLOR_FORCE": "0", "TERM": "xterm"], true, true),
        // Then a terminal that is not dumb.
        (.auto, ["TERM": "xterm"], true, true),
        (.auto, [:], true, false),
        (.auto, ["TERM": ""], true, false),
        (.auto, ["TERM": "dumb"], true, false),
        (.auto, ["TERM": "xterm"], false, false),
    ] as [(ColorChoice, [String: String], Bool, Bool)])
    func decidesInOrder(choice: ColorChoice, environment: [String: String], isTerminal: Bool, allows: Bool) {
        #expect(choice.allowsEscapes(environment: Environment(environment), isTerminal: isTerminal) == allows)
    }
}
