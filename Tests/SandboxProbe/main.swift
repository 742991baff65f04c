import CLinux
import Glibc
import NorrisFetch

// Enters the sandbox of norris-fetch, and prints what it may still do: a line with each word of `done`.
//
// Usage: norris-sandbox-probe [FILE FOLDER [endless | outside]]
//        norris-sandbox-probe refusing NUMBER PROGRAM [ARGUMENT ...]
//        norris-sandbox-probe leaving
//   FILE: a file that this user may read and write; FOLDER: a folder in which this user may make files.
//   outside: does not enter the sandbox, and prints "no WORD" for what fails even so.
//   refusing: runs a program for which the kernel has no such system call.
//   leaving: joins the process group of its parent, as a decoder could without the sandbox, and stops.
//   Without arguments, it replaces norris-fetch, and its output is the failure that norrisd shows.

let words = CommandLine.arguments
let isByHand = words.count > 1
let folder = words.count > 2 ? words[2] : getenv("STATE_DIRECTORY").map { String(cString: $0) } ?? "/"
let file = isByHand ? words[1] : folder + "/state.db"
let mode = words.count > 3 ? words[3] : ""
let parent = getppid()

/// Calls syscall(2), which Swift cannot import because of its variable parameters.
let system = unsafeBitCast(
    dlsym(nil, "syscall"), to: (@convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int).self)

/// Makes a system call. A pointer counts as a number.
func call(_ number: CInt, _ values: Int...) -> Int {
    let values = values + [Int](repeating: 0, count: 6)
    return system(Int(number), values[0], values[1], values[2], values[3], values[4], values[5])
}

if words.count > 3, words[1] == "refusing", let number = UInt32(words[2]) {
    var filter = [
        sock_filter(code: 0x20, jt: 0, jf: 0, k: 0), sock_filter(code: 0x15, jt: 0, jf: 1, k: number),
        sock_filter(code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | UInt32(ENOSYS)),
        sock_filter(code: 0x06, jt: 0, jf: 0, k: 0x7FFF_0000),
    ]
    filter.withUnsafeMutableBufferPointer { filter in
        var program = sock_fprog(len: UInt16(filter.count), filter: filter.baseAddress)
        _ = call(SYS_prctl, Int(PR_SET_NO_NEW_PRIVS), 1)
        withUnsafePointer(to: &program) { _ = call(SYS_prctl, Int(PR_SET_SECCOMP), 2, Int(bitPattern: $0)) }
    }
    execv(words[3], words.dropFirst(3).map { strdup($0) } + [nil])
    exit(71)
}
if words.count == 2, words[1] == "leaving" {
    guard setpgid(0, getpgid(parent)) == 0 else { exit(1) }
    raise(SIGSTOP)
}

// Not concurrent: the program has one thread that uses it.
nonisolated(unsafe) var done: [String] = []

/// Notes a call that succeeded.
func attempt(_ name: String, _ call: () -> Bool) {
    if call() { done.append(name) } else if mode == "outside" { done.append("no " + name) }
}

func opens(_ path: String, _ flags: CInt) -> Bool {
    let descriptor = open(path, flags, 0o600)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
}

if mode != "outside" { try Sandbox.enter() }
attempt("thread") {
    var thread = pthread_t()
    return pthread_create(&thread, nil, { @Sendable _ in nil }, nil) == 0 && pthread_join(thread, nil) == 0
}
attempt("internet") { socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0) >= 0 }
attempt("system") { opens("/etc/passwd", O_RDONLY) }
attempt("read") { opens(file, O_RDONLY) }
attempt("write") { opens(file, O_WRONLY) }
attempt("create") { opens(folder + "/new", O_WRONLY | O_CREAT) }
attempt("rename") { rename(file, file + ".moved") == 0 && rename(file + ".moved", file) == 0 }
attempt("mode") { chmod(file, 0o600) == 0 }
attempt("owner") { chown(file, getuid(), getgid()) == 0 }
attempt("times") { utimensat(AT_FDCWD, file, nil, 0) == 0 }
attempt("node") { mknod(folder + "/node", S_IFIFO | 0o600, 0) == 0 }
attempt("remove") { unlink(file) == 0 }
attempt("unix") { socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0) >= 0 }
attempt("fork") {
    var pid: pid_t = 0
    let words: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup("exit"), nil]
    return posix_spawn(&pid, "/bin/sh", nil, nil, words, environ) == 0
}
attempt("signal") { kill(parent, 0) == 0 }
attempt("signals of a descriptor") {
    let descriptor = Int(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
    return call(SYS_fcntl, descriptor, Int(F_SETOWN), Int(parent)) == 0
}
attempt("another signal of a descriptor") {
    call(SYS_fcntl, Int(socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)), 10, Int(SIGKILL)) == 0
}
attempt("memory") { mmap(nil, 300 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED }
attempt("limit") {
    var limit = rlimit(rlim_cur: 5, rlim_max: 5)
    return setrlimit(CInt(RLIMIT_CPU.rawValue), &limit) == 0
}
attempt("limit of the parent") {
    var limit = rlimit()
    return withUnsafeMutablePointer(to: &limit) {
        let (pid, resource, place) = (Int(parent), Int(RLIMIT_NOFILE.rawValue), Int(bitPattern: $0))
        return call(SYS_prlimit64, pid, resource, 0, place) == 0 && call(SYS_prlimit64, pid, resource, place) == 0
    }
}
attempt("priority of the parent") {
    setpriority(CInt(PRIO_PROCESS.rawValue), id_t(parent), getpriority(CInt(PRIO_PROCESS.rawValue), id_t(parent))) == 0
}
attempt("scheduler of the parent") {
    var parameters: CInt = 0
    return withUnsafeMutablePointer(to: &parameters) {
        call(SYS_sched_setscheduler, Int(parent), 0, Int(bitPattern: $0)) == 0
    }
}
attempt("disk priority of the parent") { call(SYS_ioprio_set, 1, Int(parent), 0) == 0 }
attempt("outliving the parent") { call(SYS_prctl, Int(PR_SET_PDEATHSIG), 0) == 0 }
attempt("another group") { setpgid(0, getpgid(parent)) == 0 }
attempt("another session") { setsid() >= 0 }
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
if mode == "endless" { while true {} }
