import NorrisProtocol
import NorrisTerminal
import Testing

struct TerminalEnvironmentTests {
    @Test(arguments: [
        ([:], true), (["LANG": ""], true), (["LANG": "C"], false), (["LANG": "POSIX"], false),
        (["LANG": "C.UTF-8"], true), (["LANG": "C.utf8"], true), (["LANG": "de_DE"], false),
        (["LANG": "de_DE.UTF-8@euro"], true), (["LANG": "de_DE@euro"], false), (["LANG": "de_DE.ISO-8859-15"], false),
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
