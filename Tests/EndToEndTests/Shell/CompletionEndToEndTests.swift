import Foundation
import NorrisTestSupport
import Testing

@Suite(.onTestThread) struct CompletionEndToEndTests {
    /// Expects the completion of a line by an answer of the daemon, at the first or a later attempt.
    private func expectAnswer(
        _ arguments: String, to line: String, _ shell: ShellWithCompletion,
        sourceLocation: SourceLocation = #_sourceLocation
    ) { #expect(shell.completing(line, until: arguments) == arguments, sourceLocation: sourceLocation) }

    @Test(arguments: Shell.allCases) func tabCompletesCommandsOptionsAndCategories(shell: Shell) throws {
        let daemon = try RunningDaemon()
        let isZsh = shell == .zsh
        let shell = try ShellWithCompletion(shell, socket: daemon.socket)
        #expect(shell.completing("norrisctl categ") == "<categories>")
        #expect(shell.completing("norrisctl favorite exp") == "<favorite><export>")
        #expect(shell.completing("norrisctl fact --max") == "<fact><--max-length>")
        #expect(shell.completing("norrisctl --plain fact --exp") == "<--plain><fact><--explicit>")
        expectAnswer("<fact><--category><dev>", to: "norrisctl fact --category de", shell)
        expectAnswer("<fact><--category=dev>", to: "norrisctl fact --category=de", shell)
        #expect(shell.completing("norrisctl --color=ne") == "<--color=never>")
        #expect(shell.missing(["animal", "dev", "food"], behind: "norrisctl fact --category ") == [])
        #expect(shell.completing("norrisctl fact --cou") == "<fact><--count>")
        #expect(shell.completing("norrisctl fact --col") == "<fact><--color>")
        #expect(shell.missing(["search"], behind: "norrisctl ") == [])
        if isZsh { #expect(shell.missing([#"'{id}\t{text}'"#], behind: "norrisctl --") == []) }
    }

    @Test(arguments: Shell.allCases) func aScriptThatIsReadAtTheStartWorksAsWell(shell: Shell) throws {
        let daemon = try RunningDaemon()
        let shell = try ShellWithCompletion(shell, socket: daemon.socket, isSourced: true)
        expectAnswer("<fact><--category><dev>", to: "norrisctl fact --category de", shell)
    }

    @Test(arguments: Shell.allCases) func tabCompletesIDsWithColons(shell: Shell) throws {
        let showsTitles = shell != .bash
        let title = #"A: %F{red}100% $(touch X) `touch X` \\n\u001b[31m"#
        let posts = ["town:1093", "town:2093", "planet:5"].map { id in
            """
            {"id":"\(id)","source":"s","author":{"id":"a","name":"A"},"title":"\(title)","tags":[],"images":[],\
            "stats":{},"read":false}
            """
        }
        let daemon = try HostileDaemon(result: #"{"items":[\#(posts.joined(separator: ","))]}"#)
        let shell = try ShellWithCompletion(shell, socket: daemon.socket)
        expectAnswer("<post><planet:5>", to: "norrisctl post pl", shell)
        expectAnswer("<post><town:1093>", to: "norrisctl post town:1", shell)
        expectAnswer("<read><planet:5><town:2093>", to: "norrisctl read planet:5 town:2", shell)
        if showsTitles {
            // Two words have the same beginning, so the shell lists both with their titles.
            #expect(shell.missing(["A: %F{red}100% "], behind: "norrisctl post town:") == [])
        }
        #expect(!FileManager.default.fileExists(atPath: shell.home("X")))
    }

    @Test(arguments: Shell.allCases) func tabCompletesFilesWhereFilesStand(shell: Shell) throws {
        let shell = try ShellWithCompletion(shell, socket: "/nowhere")
        _ = try shell.home.write("", to: "fav list")
        #expect(shell.completing("norrisctl favorite import fav") == "<favorite><import><fav list>")
        #expect(shell.completing("norrisctl --socket=fav") == "<--socket=fav list>")
        #expect(shell.completing("norrisctl card -o fav") == "<card><-o><fav list>")
        #expect(shell.completing("norrisctl card --output=fav") == "<card><--output=fav list>")
    }

    @Test(arguments: Shell.allCases) func nothingFromTheDaemonIsEverRunOrShownRaw(shell: Shell) throws {
        let names = [
            "$(touch X)", "`touch X`", "d$(touch X)", "dev;touch X", "d\\n touch X", "d e f", "d\\u001b[31mred",
            "d\\u009bA", "<(touch X)", "${X:=$(touch X)}", "dev",
        ]
        let items = names.map { #"{"name":"\#($0)","count":1}"# }
        let freshness = #"{"origin":"cache","state":"fresh","error":null}"#
        let categories = #"{"items":[\#(items.joined(separator: ","))],"freshness":\#(freshness)}"#
        let daemon = try HostileDaemon(result: categories)
        let shell = try ShellWithCompletion(shell, socket: daemon.socket)
        // Only one word is valid, so the shell inserts the word immediately.
        expectAnswer("<fact><--category><dev>", to: "norrisctl fact --category ", shell)
        expectAnswer("<fact><--category=dev>", to: "norrisctl fact --category=", shell)
        expectAnswer("<fact><--category><dev>", to: "norrisctl fact --category d", shell)
        #expect(!FileManager.default.fileExists(atPath: shell.home("X")))
        #expect(!String(decoding: shell.terminal.transcript, as: UTF8.self).contains("touch"))
    }

    @Test(arguments: Shell.allCases) func withoutADaemonTabSaysNothing(shell: Shell) throws {
        let shell = try ShellWithCompletion(shell, socket: "/nowhere")
        #expect(shell.completing("norrisctl fact --category de") == "<fact><--category><de>")
        #expect(shell.completing("norrisctl fact --cat") == "<fact><--category>")
        #expect(!String(decoding: shell.terminal.transcript, as: UTF8.self).contains("nowhere"))
    }
}
