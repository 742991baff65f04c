import Foundation
import NorrisProtocol
import NorrisSystem
import NorrisTerminal
import NorrisTestSupport
import Testing

struct ColorChoiceTests {
    @Test(
        arguments: [
            // The flag has priority.
            (ColorChoice.always, ["NO_COLOR": "1", "CLICOLOR_FORCE": "0", "TERM": "dumb"], false, true),
            (.never, ["CLICOLOR_FORCE": "1", "TERM": "xterm"], true, false),
            // Then NO_COLOR, if it is not empty.
            (.auto, ["NO_COLOR": "1", "CLICOLOR_FORCE": "1", "TERM": "xterm"], true, false),
            (.auto, ["NO_COLOR": "0", "TERM": "xterm"], true, false),
            (.auto, ["NO_COLOR": "", "TERM": "xterm"], true, true),
            // Then CLICOLOR_FORCE, if it is neither empty nor 0.
            (.auto, ["CLICOLOR_FORCE": "1"], false, true),
            (.auto, ["CLICOLOR_FORCE": "yes", "TERM": "dumb"], true, true),
            (.auto, ["CLICOLOR_FORCE": "0"], false, false), (.auto, ["CLICOLOR_FORCE": ""], false, false),
            (.auto, ["CLICOLOR_FORCE": "0", "TERM": "xterm"], true, true),
            // Then a terminal that is not dumb.
            (.auto, ["TERM": "xterm"], true, true), (.auto, [:], true, false), (.auto, ["TERM": ""], true, false),
            (.auto, ["TERM": "dumb"], true, false), (.auto, ["TERM": "xterm"], false, false),
        ] as [(ColorChoice, [String: String], Bool, Bool)])
    func decidesInOrder(choice: ColorChoice, environment: [String: String], isTerminal: Bool, allows: Bool) {
        #expect(choice.allowsEscapes(environment: Environment(environment), isTerminal: isTerminal) == allows)
    }
}

struct TerminalEnvironmentTests {
    @Test(
        arguments: [
            ([:], true), (["LANG": ""], true), (["LANG": "C"], false), (["LANG": "POSIX"], false),
            (["LANG": "C.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "de_DE"], false),
            (["LANG": "de_DE.UTF-8@euro"], true), (["LANG": "de_DE@euro"], false),
            (["LANG": "de_DE.ISO-8859-15"], false),
            (["LC_CTYPE": "C", "LANG": "C.UTF-8"], false), (["LC_CTYPE": "", "LANG": "C.UTF-8"], true),
            (["LC_ALL": "en_US.UTF-8", "LC_CTYPE": "C"], true), (["LC_ALL": "C", "LC_CTYPE": "C.UTF-8"], false),
        ] as [([String: String], Bool)])
    func tellsWhetherTheLocaleIsUTF8(environment: [String: String], isUTF8: Bool) {
        #expect(isUTF8Locale(Environment(environment)) == isUTF8)
    }

    @Test func takesATerminalOfNoKindForADumbOne() {
        #expect(isDumbTerminal([:]))
        #expect(isDumbTerminal(["TERM": ""]))
        #expect(isDumbTerminal(["TERM": "dumb"]))
        #expect(!isDumbTerminal(["TERM": "linux"]))
    }
}
