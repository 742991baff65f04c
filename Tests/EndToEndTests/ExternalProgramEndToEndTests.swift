import Foundation
import NorrisTestSupport
import Testing

/// Tests of calls of external programs by norrisctl: real programs, and scripts that record their arguments and input.
@Suite(.onTestThread, .timeLimit(.minutes(20))) struct ExternalProgramEndToEndTests {
    /// A daemon with one post, `team:1`, that has these pictures.
    private func daemon(_ upstream: FakeUpstream, pictures: [String]) throws -> RunningDaemon {
        let list = pictures.map { "\"\($0)\"" }.joined(separator: ",")
        let document = """
            {"data":[{"uid":"u","name":"Ada","email":"a@e.org","profile_pic":"https://e.org/a.png","posts":[\
            {"id":1,"date":"Tue Mar 08 2022 06:56:06 GMT-0500","pics":[\(list)]}]}]}
            """
        upstream.setDocument("/team/users/posts", contentType: "application/json", body: Array(document.utf8))
        let daemon = try RunningDaemon(
            configuration: """
                facts: {enabled: false}
                http: {timeout: 60s, host_gap: 0s}
                posts: {sources: {team: {kind: users-posts, url: '\(upstream.baseURL)/team'}}}

                """)
        let refreshed = try daemon.ctl("refresh", "--wait")
        #expect(refreshed.status == 0, "\(refreshed)")
        return daemon
    }

    /// Writes a shell script to the `bin` folder.
    private func script(_ name: String, _ text: String, in folder: TemporaryFolder) throws {
        try FileManager.default.createDirectory(atPath: folder("bin"), withIntermediateDirectories: true)
        _ = try folder.writeProgram(text, to: "bin/\(name)")
    }

    /// Returns variables that find the scripts of the folder before the programs of the system.
    private func variables(
        _ daemon: RunningDaemon, _ folder: TemporaryFolder, _ others: [String: String] = [:]
    ) -> [String: String] {
        ["NORRISD_SOCKET": daemon.socket, "PATH": folder("bin") + ":/usr/bin:/bin", "COLORTERM": "truecolor"]
            .merging(others) { $1 }
    }

    private func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }

    @Test func curlKeepsToItsBounds() async throws {
        let certificate = try FakeCertificate()
        let plain = try await FakeUpstream.start()
        let secure = try await FakeUpstream.start(security: .tls(certificate))
        secure.setDocument("/a.png", contentType: "image/png", body: Array("a picture".utf8))
        plain.setDocument("/a.png", contentType: "image/png", body: Array("a picture".utf8))
        do {
            let folder = TemporaryFolder()
            // curl would use the unreachable proxy if curl read .curlrc.
            _ = try folder.write("proxy = http://127.0.0.1:1\n", to: ".curlrc")
            try script("chafa", "cat > '\(folder("drawn"))'", in: folder)
            let daemon = try daemon(plain, pictures: ["\(secure.baseURL)/a.png"])
            func show(_ others: [String: String] = [:]) throws -> (status: Int32, transcript: String) {
                unlink(folder("drawn"))
                let terminal = try PseudoTerminal(
                    Programs.norrisctl, ["post", "team:1", "--show", "--timeout", "5m"],
                    environment: variables(
                        daemon, folder,
                        ["CURL_CA_BUNDLE": certificate.path, "HOME": folder.path].merging(others) { $1 }), columns: 200)
                return (terminal.waitForEnd(), terminal.rest)
            }
            let shown = try show()
            #expect(shown.status == 0, "\(shown)")
            #expect(text(folder("drawn")) == "a picture")

            let stranger = try show(["CURL_CA_BUNDLE": "/etc/ssl/certs/ca-certificates.crt"])
            #expect(stranger.status == 75)
            #expect(stranger.transcript.contains("the certificate of the host is not valid"), "\(stranger)")

            let faults: [(FakeUpstream.Fault, Int32, String)] = [
                (.redirect(to: "\(plain.baseURL)/a.png"), 75, "it redirects to an address that is not https"),
                (.redirect(to: "/a.png"), 75, "too many redirects"),
                (.status(404), 75, "the host answers with an error"), (.endless, 1, "larger than 16 MiB"),
            ]
            for (fault, status, message) in faults {
                secure.setFault(fault, path: "/a.png")
                let shown = try show()
                #expect(shown.status == status, "\(shown)")
                #expect(shown.transcript.contains(message), "\(shown)")
                #expect(!FileManager.default.fileExists(atPath: folder("drawn")))
            }
            #expect(!plain.requests.contains { $0.path == "/a.png" })
        }
        await plain.stop()
        await secure.stop()
    }

    @Test func interruptingEndsWhatHangs() async throws {
        let upstream = try await FakeUpstream.start()
        do {
            let daemon = try daemon(upstream, pictures: ["https://e.org/a.png"])
            for program in ["chafa", "curl"] {
                let folder = TemporaryFolder()
                try script("curl", "echo picture", in: folder)
                try script(
                    program, "echo $$ > '\(folder("pid"))'; echo > '\(folder("begun"))'; exec sleep 60", in: folder)
                let terminal = try PseudoTerminal(
                    Programs.norrisctl, ["post", "team:1", "--show", "--timeout", "5m"],
                    environment: variables(daemon, folder))
                // norrisctl prints the post before its picture.
                #expect(terminal.wait(for: "team:1") != nil)
                for _ in 0..<12_000 where access(folder("begun"), F_OK) != 0 { poll(nil, 0, 10) }
                let process = try #require(Int32(text(folder("pid")).dropLast()))
                terminal.type("\u{3}")
                #expect(terminal.waitForEnd() == 128 + SIGINT)
                #expect(kill(process, 0) == -1, "\(program) is left")
                if program == "chafa" { #expect(terminal.rest.contains("\u{1B}\\\u{1B}[0m\u{1B}[?25h")) }
            }
        }
        await upstream.stop()
    }

    @Test func theClipboardProgramStaysBehindWithNothingOfOurs() throws {
        let daemon = try RunningDaemon()
        let folder = TemporaryFolder()
        try script(
            "xclip",
            """
            printf '%s ' "$@" > '\(folder("arguments"))'
            cat > '\(folder("copied"))'
            ls -l /proc/$$/fd > '\(folder("files"))'
            sleep 20 &
            """, in: folder)
        func copy() throws -> ProgramResult {
            try run(
                Programs.norrisctl, ["fact", "--copy", "--timeout", "5m"],
                environment: variables(daemon, folder, ["DISPLAY": ":99"]))
        }
        var result = try copy()
        // xclip has three seconds, which may be too short on a busy machine.
        for _ in 0..<20 where result.status != 0 { result = try copy() }
        #expect(result.status == 0, "\(result)")
        #expect(result.errors == "Copied to the clipboard.\n")
        #expect(text(folder("copied")) + "\n" == result.output)
        #expect(text(folder("arguments")) == "-selection clipboard -in ")
        // Descriptors 1 and 2 are /dev/null. Descriptor 0 is a pipe, and the shell has its script open.
        #expect(!text(folder("files")).contains("socket:"))
        #expect(text(folder("files")).components(separatedBy: "/dev/null").count == 3, "\(text(folder("files")))")
    }

    @Test func programsOfTheCurrentFolderAreNotRun() throws {
        let daemon = try RunningDaemon()
        let folder = TemporaryFolder()
        try script("xclip", "echo > '\(folder("run"))'", in: folder)
        for path in [".", "bin", ":.:"] {
            let result = try run(
                "/bin/sh",
                [
                    "-c", "cd \"$1\"/bin && PATH=$3 exec \"$2\" fact --copy --timeout 5m", "sh", folder.path,
                    Programs.norrisctl, path,
                ], environment: ["NORRISD_SOCKET": daemon.socket, "DISPLAY": ":99"])
            #expect(result.status == 69, "\(result)")
            #expect(result.errors.contains("apt install xclip"))
        }
        #expect(access(folder("run"), F_OK) != 0)
    }
}

struct OutputFileEndToEndTests {
    @Test("A signal while a file is written leaves the old file or the new one, and no other")
    func aSignalLeavesNoOtherFile() throws {
        let daemon = try RunningDaemon()
        let folder = TemporaryFolder()
        // The signal is sent as soon as another file is seen, or the page is there.
        let script = """
            cd "$1" && rm -f page.html
            "$2" search Chuck --limit 100 --html -o page.html 2>/dev/null &
            until ls -A | grep -q .; do :; done
            kill -TERM $!
            wait $!
            ls -A
            """
        for _ in 0..<20 {
            let arguments = ["-c", script, "sh", folder.path, Programs.norrisctl]
            let result = try run("sh", arguments, environment: ["NORRISD_SOCKET": daemon.socket])
            #expect(result.lines == ["page.html"], "\(result)")
        }
    }
}
