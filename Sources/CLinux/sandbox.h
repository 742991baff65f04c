// Takes rights from this process that it cannot get back: seccomp(2), landlock(7).
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// Refuses privileges by set-user-ID programs (PR_SET_NO_NEW_PRIVS(2const)). Returns 0, or a number of errno(3).
static inline int norris_refuse_privileges(void) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

// Ends this process when the thread of its parent that started it ends (PR_SET_PDEATHSIG(2const)).
static inline int norris_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 ? 0 : errno; }

#if defined(__x86_64__)
#define NORRIS_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NORRIS_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define NORRIS_LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define NORRIS_RETURN(value) BPF_STMT(BPF_RET | BPF_K, (value))
// Refuses a system call by its number, which is loaded.
#define NORRIS_REFUSE(call, error) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), NORRIS_RETURN(SECCOMP_RET_ERRNO | (error))

// Both of the following require norris_refuse_privileges().

// Allows an opening of files only for reading; the flags are a parameter of the call.
#define NORRIS_ALLOW_READING(call, parameter) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), NORRIS_LOAD(args[parameter]), \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC, 0, 1), \
    NORRIS_RETURN(SECCOMP_RET_ERRNO | EACCES), NORRIS_RETURN(SECCOMP_RET_ALLOW)

// Refuses to start programs and processes, to change files, to use Unix sockets, and to reach into other processes.
// Threads are allowed: without clone3(2), whose flags no filter can read, the C library starts them by clone(2).
//
// Returns 0, or a number of errno(3).
static inline int norris_refuse_system_calls(void) {
#ifdef NORRIS_ARCHITECTURE
    struct sock_filter filter[] = {
        NORRIS_LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NORRIS_ARCHITECTURE, 1, 0),
        NORRIS_RETURN(SECCOMP_RET_KILL_PROCESS),
        NORRIS_LOAD(nr),
#ifdef __x86_64__
        // The numbers of the x32 interface.
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        NORRIS_RETURN(SECCOMP_RET_KILL_PROCESS),
#endif
        NORRIS_REFUSE(execve, EACCES),
        NORRIS_REFUSE(execveat, EACCES),
        NORRIS_REFUSE(clone3, ENOSYS),
#ifdef __NR_fork
        NORRIS_REFUSE(fork, EACCES),
        NORRIS_REFUSE(vfork, EACCES),
        NORRIS_ALLOW_READING(open, 1),
        NORRIS_REFUSE(creat, EACCES),
        NORRIS_REFUSE(rename, EACCES),
        NORRIS_REFUSE(unlink, EACCES),
        NORRIS_REFUSE(rmdir, EACCES),
        NORRIS_REFUSE(mkdir, EACCES),
        NORRIS_REFUSE(link, EACCES),
        NORRIS_REFUSE(symlink, EACCES),
        NORRIS_REFUSE(chmod, EACCES),
#endif
        NORRIS_ALLOW_READING(openat, 2),
        NORRIS_REFUSE(openat2, ENOSYS),
#ifdef __NR_renameat
        NORRIS_REFUSE(renameat, EACCES),
#endif
        NORRIS_REFUSE(renameat2, EACCES),
        NORRIS_REFUSE(unlinkat, EACCES),
        NORRIS_REFUSE(mkdirat, EACCES),
        NORRIS_REFUSE(linkat, EACCES),
        NORRIS_REFUSE(symlinkat, EACCES),
        NORRIS_REFUSE(fchmod, EACCES),
        NORRIS_REFUSE(fchmodat, EACCES),
        NORRIS_REFUSE(truncate, EACCES),
        NORRIS_REFUSE(ftruncate, EACCES),
        NORRIS_REFUSE(ptrace, EACCES),
        NORRIS_REFUSE(process_vm_readv, EACCES),
        NORRIS_REFUSE(process_vm_writev, EACCES),
        NORRIS_REFUSE(kill, EACCES),
        NORRIS_REFUSE(tkill, EACCES),
        NORRIS_REFUSE(pidfd_open, EACCES),
        NORRIS_REFUSE(rt_sigqueueinfo, EACCES),
        NORRIS_REFUSE(rt_tgsigqueueinfo, EACCES),
        NORRIS_REFUSE(io_uring_setup, ENOSYS),
        // tgkill(2), by which abort(3) signals this process, to this process only.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 0, 4),
        NORRIS_LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)getpid(), 0, 1),
        NORRIS_RETURN(SECCOMP_RET_ALLOW),
        NORRIS_RETURN(SECCOMP_RET_ERRNO | EACCES),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 0, 4),
        NORRIS_LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000 /* CLONE_THREAD */, 0, 1),
        NORRIS_RETURN(SECCOMP_RET_ALLOW),
        NORRIS_RETURN(SECCOMP_RET_ERRNO | EACCES),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
        NORRIS_LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1),
        NORRIS_RETURN(SECCOMP_RET_ERRNO | EACCES),
        NORRIS_RETURN(SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
#else
    return ENOSYS;
#endif
}

// Of linux/landlock.h, whose version on the building machine may be older than the running kernel.
struct norris_landlock_ruleset { unsigned long long files, network, scopes; };
struct __attribute__((packed)) norris_landlock_folder { unsigned long long rights; int descriptor; };
enum { norris_landlock_read = 1 << 2 | 1 << 3 };

// Leaves only the right to read below these paths, of which some may not exist; and takes the rights to listen, and to
// signal other processes. Returns 0, or a number of errno(3): ENOSYS or EOPNOTSUPP for a kernel without Landlock.
static inline int norris_restrict_files(const char *const *paths, int count) {
    long version = syscall(444 /* landlock_create_ruleset */, NULL, 0, 1);
    if (version < 1) return errno;
    struct norris_landlock_ruleset ruleset = {
        .files = (1ULL << (version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13)) - 1,
        .network = version >= 4 ? 1 : 0,  // Bind.
        .scopes = version >= 6 ? 3 : 0,  // Abstract Unix sockets, signals.
    };
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int descriptor = (int)syscall(444, &ruleset, size, 0);
    if (descriptor < 0) return errno;
    for (int index = 0; index < count; index++) {
        struct norris_landlock_folder rule = {norris_landlock_read, open(paths[index], 010000000 /* O_PATH */ | O_CLOEXEC)};
        if (rule.descriptor < 0) continue;
        if (syscall(445 /* landlock_add_rule */, descriptor, 1, &rule, 0) != 0) {
            // The right to list belongs to folders only.
            rule.rights = 1 << 2;
            syscall(445, descriptor, 1, &rule, 0);
        }
        close(rule.descriptor);
    }
    int result = (int)syscall(446 /* landlock_restrict_self */, descriptor, 0);
    int code = errno;
    close(descriptor);
    return result == 0 ? 0 : code;
}
