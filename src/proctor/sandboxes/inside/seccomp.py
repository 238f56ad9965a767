"""Compiles the system call filter: what is not on the list is refused, and refusals are told to the supervisor."""

from __future__ import annotations

import struct

from . import syscalls

EPERM, ENOSYS, ENOTSUP = 1, 38, 95
_LOAD, _EQUAL, _GREATER, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06
ALLOW, KILL, ERRNO, NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

NAMESPACE_FLAGS = 0x7E020000
CLONE_THREAD = 0x00010000
_FAMILY_UNIX = 1
# What a socket holds is the kernel's memory, which only control groups count: it stays as small as the kernel makes it.
_SOCKET_LEVEL, _BUFFER_OPTIONS = 1, (7, 8, 32, 33)  # SO_SNDBUF, SO_RCVBUF, and both by force
# A workspace has a network of its own; sockets of other families (to the hypervisor, say) lead past it.
_FAMILIES = (_FAMILY_UNIX, 2, 10, 16)

# Reading, writing and arranging files, within what the mounts allow.
_FILES = """
read write open openat openat2 close close_range stat fstat lstat newfstatat statx lseek pread64 pwrite64
readv writev preadv pwritev preadv2 pwritev2 access faccessat faccessat2 dup dup2 dup3 fcntl flock fsync
fdatasync sync_file_range truncate ftruncate fallocate fadvise64 readahead getdents getdents64 getcwd chdir
fchdir rename renameat renameat2 mkdir mkdirat rmdir creat link linkat unlink unlinkat symlink symlinkat
readlink readlinkat chmod fchmod fchmodat chown fchown lchown fchownat umask utime utimes utimensat futimesat
statfs fstatfs sendfile
copy_file_range getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
"""
_MEMORY = "mmap mprotect munmap mremap madvise brk msync mincore membarrier pkey_alloc pkey_free pkey_mprotect mseal"
_WAITING = """
poll ppoll select pselect6 pipe pipe2 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime futex futex_waitv
set_robust_list get_robust_list rseq nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time
times alarm pause getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete
restart_syscall
"""
_SIGNALS = """
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack
"""
_SELF = """
exit exit_group getpid gettid getppid getpgid getpgrp getsid getuid geteuid getgid getegid getresuid getresgid
getgroups arch_prctl set_tid_address sched_yield sched_getaffinity sched_setaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min getpriority setpriority getrlimit setrlimit
prlimit64 getrusage sysinfo uname getcpu capget getrandom
"""
_PROCESSES = """
fork vfork execve execveat wait4 waitid setpgid setsid pidfd_open pidfd_send_signal kill tkill tgkill
rt_sigqueueinfo rt_tgsigqueueinfo
"""
_CONNECTED = "sendmsg recvmsg sendto recvfrom shutdown getsockopt setsockopt getsockname getpeername"
_NETWORK = "socket bind connect listen accept accept4 sendmmsg recvmmsg"

# What changes files by name, as far as it is allowed; what writes to an open one has been asked about by then.
_CHANGING = """
openat2 creat truncate rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink unlinkat symlink symlinkat
chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat bind
"""
_OPENING = {"open": 1, "openat": 2}
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC

# Asked for as a matter of course, and answered without holding it against anyone.
_QUIET = {
    # No such call: there is a fallback.
    ENOSYS: "clone3 io_uring_setup get_mempolicy set_mempolicy landlock_create_ruleset fchmodat2",
    # No such attributes on this file system: `cp -p` and `mv` take every other answer for a failure.
    ENOTSUP: "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr",
    # Done: what a program may write to is in memory, and the machine's disks are not for it to keep busy.
    0: "sync syncfs",
}

# Terminal questions (`bash` asks who is in front, new C libraries have a new way to ask), bytes waiting, non-blocking,
# close-on-exec, and of two open files that one share the other's blocks, as `cp` tries first: everything else, TIOCSTI
# above all, is refused.
_IOCTLS = (0x5401, 0x802C542A, 0x540F, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
# Names, dumpable, bounding set?, no new privileges: nothing that undoes the parent-death signal.
_PRCTLS = (3, 4, 15, 16, 21, 23, 38, 39, 0x53564D41)


def _op(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("HBBI", code, true, false, value)


def _on(number: int, body: list[bytes]) -> list[bytes]:
    """`body` when the call has this number; it must end in a return."""
    return [_op(_EQUAL, number, 0, len(body)), *body]


def _argument_in(index: int, values: tuple[int, ...], otherwise: int) -> list[bytes]:
    count = len(values)
    tests = [_op(_EQUAL, value, count - position, 0) for position, value in enumerate(values)]
    return [_op(_LOAD, _ARGUMENTS + 8 * index), *tests, _op(_RETURN, otherwise), _op(_RETURN, ALLOW)]


def compile_filter(
    machine: str,
    *,
    profile: str = "program",
    loopback: bool = False,
    is_notifying: bool = True,
    is_seeing_writes: bool = False,
) -> bytes:
    """The filter as the kernel wants it.

    Profiles: `program`; `judge`, which may start and signal no process; and `workspace`, a program whose agent runs as
    the same user: it leaves the agent's limits alone, and tells it whom it wants to talk to and, if it is to see
    writes, what it wants to change; files opened for reading are never asked about.
    """
    number = syscalls.numbers(machine)
    refuse = NOTIFY if is_notifying else ERRNO | EPERM
    names = [_FILES, _MEMORY, _WAITING, _SIGNALS, _SELF, _CONNECTED]
    if profile != "judge":
        names.append(_PROCESSES)
    if loopback:
        names.append(_NETWORK)
    allowed = [number[name] for name in " ".join(names).split() if name in number]
    flags = [_op(_LOAD, _ARGUMENTS)]
    if profile != "judge":
        flags += [_op(_ANY_BIT, NAMESPACE_FLAGS, 0, 1), _op(_RETURN, refuse), _op(_RETURN, ALLOW)]
    else:
        flags += [_op(_ANY_BIT, CLONE_THREAD, 1, 0), _op(_RETURN, refuse), _op(_RETURN, ALLOW)]
    program = [
        _op(_LOAD, _ARCHITECTURE),
        _op(_EQUAL, syscalls.AUDIT_ARCHITECTURE[machine], 1, 0),
        _op(_RETURN, KILL),
        _op(_LOAD, _NUMBER),
        *_on(number["clone"], flags),
        *_on(number["ioctl"], _argument_in(1, _IOCTLS, refuse)),
        *_on(number["prctl"], _argument_in(0, _PRCTLS, refuse)),
        *_on(number["socketpair"], _argument_in(0, (_FAMILY_UNIX,), refuse)),
        *_on(number["setsockopt"], _keep_buffers()),
    ]
    if profile == "workspace":
        program += _place_rules(number, refuse, NOTIFY if is_notifying else ALLOW)
        if is_seeing_writes:
            program += _write_rules(number)
    for error, quiet in _QUIET.items():
        for name in quiet.split():
            program += _on(number[name], [_op(_RETURN, ERRNO | error)])
    program += [*_allow_ranges(allowed), _op(_RETURN, refuse), _op(_RETURN, ALLOW)]
    return b"".join(program)


def _keep_buffers() -> list[bytes]:
    """A wish for larger buffers is granted as the kernel grants one above its own limit: without doing it."""
    count = len(_BUFFER_OPTIONS)
    tests = [_op(_EQUAL, option, count - position, 0) for position, option in enumerate(_BUFFER_OPTIONS)]
    options = [_op(_LOAD, _ARGUMENTS + 8 * 2), *tests, _op(_RETURN, ALLOW), _op(_RETURN, ERRNO)]
    return [_op(_LOAD, _ARGUMENTS + 8), _op(_EQUAL, _SOCKET_LEVEL, 1, 0), _op(_RETURN, ALLOW), *options]


def _both_zero(first: int, second: int, otherwise: int) -> list[bytes]:
    """Allowed when these two words of the call are zero."""
    tests = [_op(_LOAD, first), _op(_EQUAL, 0, 0, 2), _op(_LOAD, second), _op(_EQUAL, 0, 1, 0)]
    return [*tests, _op(_RETURN, otherwise), _op(_RETURN, ALLOW)]


def _place_rules(number: dict[str, int], refuse: int, ask: int) -> list[bytes]:
    address = _ARGUMENTS + 8 * 4
    return [
        *_on(number["socket"], _argument_in(0, _FAMILIES, refuse)),
        *_on(number["prlimit64"], _argument_in(0, (0,), refuse)),
        *_on(number["setpriority"], _both_zero(_ARGUMENTS, _ARGUMENTS + 8, refuse)),
        # Its own processors a program may choose, not those of the first process, which is its agent.
        *_on(
            number["sched_setaffinity"],
            [_op(_LOAD, _ARGUMENTS), _op(_EQUAL, 1, 0, 1), _op(_RETURN, refuse), _op(_RETURN, ALLOW)],
        ),
        *_on(number["connect"], [_op(_RETURN, ask)]),
        *_on(number["sendto"], _both_zero(address, address + 4, ask)),
    ]


def _write_rules(number: dict[str, int]) -> list[bytes]:
    rules: list[bytes] = []
    for name, flags in _OPENING.items():
        if name in number:
            asked = [_op(_LOAD, _ARGUMENTS + 8 * flags), _op(_ANY_BIT, _WRITING, 0, 1)]
            rules += _on(number[name], [*asked, _op(_RETURN, NOTIFY), _op(_RETURN, ALLOW)])
    for name in _CHANGING.split():
        if name in number:
            rules += _on(number[name], [_op(_RETURN, NOTIFY)])
    return rules


def _allow_ranges(allowed: list[int]) -> list[bytes]:
    """Jumps to the last return but one for every number outside these, to the last for every number among them.

    The kernel tries a new filter on every system call it has: ranges in ascending order, left at the first that lies
    above, make that several times cheaper than one comparison per call.
    """
    ranges: list[list[int]] = []
    for value in sorted(set(allowed)):
        if ranges and ranges[-1][1] == value - 1:
            ranges[-1][1] = value
        else:
            ranges.append([value, value])
    jumps = []
    for index, (low, high) in enumerate(ranges):
        left = 2 * (len(ranges) - index) - 1  # instructions between the first of this pair and the refusing return
        jumps += [_op(_AT_LEAST, low, 0, left), _op(_GREATER, high, 0, left)]
    return jumps
