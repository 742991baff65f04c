import Glibc
import NorrisTestSupport
import Testing

/// The programs under parents that leave a process in an unusual state, which Python makes.
struct SurroundingsEndToEndTests {
    private let folder = TemporaryFolder()

    /// Runs a script of Python that starts norrisd by `start(...)` and asks it by `ask()`.
    private func python(_ script: String) throws -> ProgramResult {
        _ = try folder.write("facts: {enabled: false}\n", to: "config.yaml")
        let prelude = """
            import os, resource, signal, socket, subprocess, sys, time
            norrisd, norrisctl, folder = sys.argv[1:]
            arguments = [norrisd, "--config", f"{folder}/config.yaml", "--socket", f"{folder}/sock"]
            arguments += ["--state-dir", f"{folder}/state", "--cache-dir", f"{folder}/cache"]
            def start(*more, **options):
                return subprocess.Popen(arguments + list(more), env={"HOME": folder}, **options)
            def ask(seconds=60):
                for _ in range(seconds * 50):
                    try:
                        with socket.socket(socket.AF_UNIX) as line:
                            line.settimeout(seconds)
                            line.connect(f"{folder}/sock")
                            line.sendall(b'{"jsonrpc":"2.0","id":1,"method":"server.info"}\\n')
                            return b'"result"' in line.recv(65536)
                    except OSError:
                        time.sleep(0.02)
            def end(process):
                process.terminate()
                return process.wait(60)

            """
        return try run("python3", ["-c", prelude + script, Programs.norrisd, Programs.norrisctl, folder.path])
    }

    @Test("A reader of the log that has ended changes nothing") func logWithoutReader() throws {
        let result = try python(
            """
            process = start(stderr=subprocess.PIPE)
            print(ask())
            process.stderr.close()
            for _ in range(5):
                process.send_signal(signal.SIGHUP)
                print(ask())
            print(end(process))
            """)
        #expect(result.output == String(repeating: "True\n", count: 6) + "0\n", "\(result)")
    }

    @Test("A log that nothing reads stops neither requests nor the end") func stuckLog() throws {
        let result = try python(
            """
            import fcntl
            reading, writing = os.pipe()
            fcntl.fcntl(writing, 1031, 4096)  # F_SETPIPE_SZ
            process = start("--log-level", "trace", stderr=writing)
            print(ask())
            for _ in range(200):
                process.send_signal(signal.SIGHUP)
                time.sleep(0.005)
            print(ask())
            print(end(process))
            """)
        #expect(result.output == "True\nTrue\n0\n", "\(result)")
    }

    @Test("Closed standard descriptors are not used for other files") func closedDescriptors() throws {
        let result = try python(
            """
            process = start(preexec_fn=lambda: [os.close(number) for number in (0, 1, 2)])
            print(ask())
            print({os.readlink(f"/proc/{process.pid}/fd/{number}") for number in (0, 1, 2)})
            print(end(process))
            """)
        #expect(result.output == "True\n{'/dev/null'}\n0\n", "\(result)")
    }

    @Test("Arguments do not depend on /proc") func fewDescriptors() throws {
        let result = try python(
            """
            few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
            print(subprocess.run([norrisctl, "--version"], preexec_fn=few, capture_output=True).stdout[:9])
            print(subprocess.run(arguments + ["--check-config"], preexec_fn=few, capture_output=True).returncode > 0)
            """)
        // Not even the loader can open its libraries, but no daemon is started.
        #expect(result.output == "b'norrisctl'\nTrue\n", "\(result)")
    }

    @Test("A limit of processes ends the start with a reason") func fewProcesses() throws {
        guard getuid() == 0 else { return }
        let result = try python(
            """
            os.chmod(folder, 0o777)
            def limit():
                os.setgroups([])
                os.setgid(54321)
                os.setuid(54321)
                resource.setrlimit(resource.RLIMIT_NPROC, (5, 5))
            process = start(preexec_fn=limit, stderr=subprocess.PIPE)
            _, errors = process.communicate(timeout=60)
            print(process.returncode, errors.decode())
            """)
        #expect(result.output.hasPrefix("71 norrisd: no further thread can be started"), "\(result)")
    }

    @Test("A limit of open files ends the start with a reason") func fewFiles() throws {
        let result = try python(
            """
            for files in range(8, 27):
                few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
                process = start(preexec_fn=few, stderr=subprocess.PIPE)
                _, errors = process.communicate(timeout=60)
                if process.returncode != 71 or b"ulimit -n" not in errors:
                    print(files, process.returncode, errors.decode())
            """)
        #expect(result.output == "", "\(result)")
    }

    @Test("Programs are waited for although the parent ignores their end") func ignoredChildren() throws {
        _ = try folder.write("<opml><body></body></opml>", to: "feeds.opml")
        let result = try python(
            """
            process = start()
            ask()
            words = [norrisctl, "--socket", f"{folder}/sock", "feed", "import", f"{folder}/feeds.opml"]
            ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            ended = subprocess.run(words, preexec_fn=ignore, capture_output=True, timeout=60)
            print(ended.returncode, ended.stdout, ended.stderr)
            end(process)
            """)
        #expect(!result.output.isEmpty && result.status == 0, "\(result)")
    }

    @Test("A signal ends the pager too") func pager() throws {
        let result = try python(
            """
            import fcntl, pty, struct, termios
            process, terminal = pty.fork()
            if process == 0:
                fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 80, 0, 0))
                os.environ |= {"NORRISCTL_PAGER": "sleep 1000 | cat", "TERM": "xterm"}
                os.execv(norrisctl, [norrisctl, "init", "bash"])
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                running = subprocess.run(["pgrep", "-g", str(process), "sleep"], capture_output=True).stdout
                if running: break
                time.sleep(0.02)
            os.kill(process, signal.SIGTERM)
            print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
            while time.monotonic() < deadline:
                if not subprocess.run(["pgrep", "-g", str(process)], capture_output=True).stdout: break
                time.sleep(0.02)
            else:
                print("still running")
            """)
        #expect(result.output == "-15\n", "\(result)")
    }

    @Test("An argument that is not UTF-8 is refused, because it would name another file") func otherEncodings() throws {
        let result = try python(
            #"""
            for words in ([norrisctl, "card", "--text", "x", "-o", b"\xe9.png"], [norrisd, "--config", b"\xe9.yaml"]):
                ended = subprocess.run(words, capture_output=True)
                print(ended.returncode, ended.stderr.decode(), end="")
            """#)
        #expect(
            result.output == """
                64 norrisctl: argument 5 is not valid UTF-8; use another name for it.
                64 norrisd: argument 2 is not valid UTF-8; use another name for it.

                """)
    }
}
