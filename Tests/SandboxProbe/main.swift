import Glibc
import NorrisFetch

// Enters the sandbox of norris-fetch, and prints what it may still do: a line with each word of `done`.
//
// Usage: norris-sandbox-probe [FILE FOLDER [endless]]
//   FILE: a file that this user may read and write; FOLDER: a folder in which this user may make files.
//   Without arguments, it replaces norris-fetch, and its output is the failure that norrisd shows.

let isByHand = CommandLine.arguments.count > 1
let folder = isByHand ? CommandLine.arguments[2] : getenv("STATE_DIRECTORY").map { String(cString: $0) } ?? "/"
let file = isByHand ? CommandLine.arguments[1] : folder + "/state.db"
// Not concurrent: the program has one thread that uses it.
nonisolated(unsafe) var done: [String] = []

/// Notes a call that succeeded.
func attempt(_ name: String, _ call: () -> Bool) { if call() { done.append(name) } }

func opens(_ path: String, _ flags: CInt) -> Bool {
    let descriptor = open(path, flags, 0o600)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
}

let parent = getppid()
try Sandbox.enter()
attempt("thread") {
    var thread = pthread_t()
    return pthread_create(&thread, nil, { @Sendable _ in nil }, nil) == 0 && pthread_join(thread, nil) == 0
}
attempt("internet") { socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) >= 0 }
attempt("system") { opens("/etc/passwd", O_RDONLY) }
attempt("read") { opens(file, O_RDONLY) }
attempt("write") { opens(file, O_WRONLY) }
attempt("create") { opens(folder + "/new", O_WRONLY | O_CREAT) }
attempt("rename") { rename(file, file + ".moved") == 0 }
attempt("remove") { unlink(file) == 0 }
attempt("unix") { socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0) >= 0 }
attempt("fork") {
    var pid: pid_t = 0
    let words: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup("exit"), nil]
    return posix_spawn(&pid, "/bin/sh", nil, nil, words, environ) == 0
}
attempt("signal") { kill(parent, 0) == 0 }
attempt("memory") { mmap(nil, 300 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED }
attempt("limit") {
    var limit = rlimit(rlim_cur: 5, rlim_max: 5)
    return setrlimit(CInt(RLIMIT_CPU.rawValue), &limit) == 0
}
if isByHand {
    print(done.joined(separator: "\n"))
} else {
    let message = "left: \(done.joined(separator: " "))."
    print(#"{"failure":{"kind":"decode","message":"\#(message)"},"age":0,"skipped":0,"repairs":0,"#, terminator: "")
    print(#""authors":[],"categories":[]}"#)
    print(#"{"end":0}"#)
}
fflush(nil)
// The limit of CPU time ends this.
if CommandLine.arguments.count > 3 { while true {} }
