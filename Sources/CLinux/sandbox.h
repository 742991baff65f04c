// Takes rights from this process that it cannot get back: seccomp(2), landlock(7).
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
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

// Sends a signal to this process when the thread of its parent that started it ends (PR_SET_PDEATHSIG(2const)).
static inline int norris_end_with_parent(int signal) {
    return prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0) == 0 ? 0 : errno;
}

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

// Refuses a system call if the low half of a parameter passes a test: BPF_JEQ for equality, BPF_JSET for common bits.
#define NORRIS_REFUSE_IF(call, parameter, test, value) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), NORRIS_LOAD(args[parameter]), \
    BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 0, 1), NORRIS_RETURN(SECCOMP_RET_ERRNO | EACCES), NORRIS_LOAD(nr)
#define NORRIS_REFUSE_UNLESS(call, parameter, test, value) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4), NORRIS_LOAD(args[parameter]), \
    BPF_JUMP(BPF_JMP | (test) | BPF_K, (value), 1, 0), NORRIS_RETURN(SECCOMP_RET_ERRNO | EACCES), NORRIS_LOAD(nr)

// Calls that the headers of the building machine may lack.
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif

// Both of the following require norris_refuse_privileges().

// The flags of an opening that is not only for reading.
enum { norris_not_reading = O_ACCMODE | O_CREAT | O_TRUNC };

// Refuses to start programs and processes, to change files, to use Unix sockets, to leave the process group, to reach
// into other processes, and to change their limits and priorities.
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
        NORRIS_REFUSE(execve, EACCES), NORRIS_REFUSE(execveat, EACCES), NORRIS_REFUSE(clone3, ENOSYS),
        NORRIS_REFUSE_UNLESS(clone, 0, BPF_JSET, 0x00010000 /* CLONE_THREAD */),
#ifdef __NR_fork
        NORRIS_REFUSE(fork, EACCES), NORRIS_REFUSE(vfork, EACCES), NORRIS_REFUSE(creat, EACCES),
        NORRIS_REFUSE(rename, EACCES), NORRIS_REFUSE(unlink, EACCES), NORRIS_REFUSE(rmdir, EACCES),
        NORRIS_REFUSE(mkdir, EACCES), NORRIS_REFUSE(mknod, EACCES), NORRIS_REFUSE(link, EACCES),
        NORRIS_REFUSE(symlink, EACCES), NORRIS_REFUSE(chmod, EACCES), NORRIS_REFUSE(chown, EACCES),
        NORRIS_REFUSE(lchown, EACCES), NORRIS_REFUSE(utime, EACCES), NORRIS_REFUSE(utimes, EACCES),
        NORRIS_REFUSE(futimesat, EACCES), NORRIS_REFUSE_IF(open, 1, BPF_JSET, norris_not_reading),
#endif
        NORRIS_REFUSE_IF(openat, 2, BPF_JSET, norris_not_reading), NORRIS_REFUSE(openat2, ENOSYS),
#ifdef __NR_renameat
        NORRIS_REFUSE(renameat, EACCES),
#endif
        NORRIS_REFUSE(renameat2, EACCES), NORRIS_REFUSE(unlinkat, EACCES), NORRIS_REFUSE(mkdirat, EACCES),
        NORRIS_REFUSE(mknodat, EACCES), NORRIS_REFUSE(linkat, EACCES), NORRIS_REFUSE(symlinkat, EACCES),
        NORRIS_REFUSE(fchmod, EACCES), NORRIS_REFUSE(fchmodat, EACCES), NORRIS_REFUSE(fchmodat2, EACCES),
        NORRIS_REFUSE(fchown, EACCES), NORRIS_REFUSE(fchownat, EACCES), NORRIS_REFUSE(utimensat, EACCES),
        NORRIS_REFUSE(setxattr, EACCES), NORRIS_REFUSE(lsetxattr, EACCES), NORRIS_REFUSE(fsetxattr, EACCES),
        NORRIS_REFUSE(setxattrat, EACCES), NORRIS_REFUSE(truncate, EACCES), NORRIS_REFUSE(ftruncate, EACCES),
        NORRIS_REFUSE(ptrace, EACCES), NORRIS_REFUSE(process_vm_readv, EACCES),
        NORRIS_REFUSE(process_vm_writev, EACCES), NORRIS_REFUSE(migrate_pages, EACCES),
        NORRIS_REFUSE(move_pages, EACCES), NORRIS_REFUSE(io_uring_setup, ENOSYS),
        NORRIS_REFUSE(setpgid, EACCES), NORRIS_REFUSE(setsid, EACCES), NORRIS_REFUSE(setpriority, EACCES),
        NORRIS_REFUSE(sched_setparam, EACCES), NORRIS_REFUSE(sched_setscheduler, EACCES),
        NORRIS_REFUSE(sched_setattr, EACCES), NORRIS_REFUSE(sched_setaffinity, EACCES),
        NORRIS_REFUSE(ioprio_set, EACCES), NORRIS_REFUSE_IF(prctl, 0, BPF_JEQ, PR_SET_PDEATHSIG),
        // The C library sets the limits of this process by the number 0.
        NORRIS_REFUSE_UNLESS(prlimit64, 0, BPF_JEQ, 0),
        // pidfd_send_signal(2) also takes a folder of proc(5) instead of a descriptor of pidfd_open(2).
        NORRIS_REFUSE(pidfd_open, EACCES), NORRIS_REFUSE(pidfd_send_signal, EACCES), NORRIS_REFUSE(kill, EACCES),
        NORRIS_REFUSE(tkill, EACCES), NORRIS_REFUSE(rt_sigqueueinfo, EACCES),
        NORRIS_REFUSE(rt_tgsigqueueinfo, EACCES),
        // The receiver of the signals of a descriptor, and the signal.
        NORRIS_REFUSE_IF(fcntl, 1, BPF_JEQ, F_SETOWN), NORRIS_REFUSE_IF(fcntl, 1, BPF_JEQ, 15 /* F_SETOWN_EX */),
        NORRIS_REFUSE_IF(fcntl, 1, BPF_JEQ, 10 /* F_SETSIG */), NORRIS_REFUSE_IF(ioctl, 1, BPF_JEQ, FIOSETOWN),
        NORRIS_REFUSE_IF(ioctl, 1, BPF_JEQ, SIOCSPGRP),
        // tgkill(2), by which abort(3) signals this process, to this process only.
        NORRIS_REFUSE_UNLESS(tgkill, 0, BPF_JEQ, (unsigned)getpid()),
        NORRIS_REFUSE_IF(socket, 0, BPF_JEQ, AF_UNIX),
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
