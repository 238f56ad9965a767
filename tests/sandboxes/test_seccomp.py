"""The compiled filter, run instruction by instruction as the kernel would, on both architectures."""

from __future__ import annotations

import os
import struct

import pytest

from proctor.sandboxes.inside import seccomp, syscalls

MACHINES = ("x86_64", "aarch64")
DANGEROUS = """
ptrace mount umount2 unshare setns bpf keyctl init_module reboot socket connect bind memfd_create shmget userfaultfd
process_vm_readv perf_event_open setuid capset chroot pivot_root open_by_handle_at pidfd_getfd kexec_load
"""


def decide(code: bytes, number: int, architecture: int, arguments: tuple[int, ...] = ()) -> int:
    steps = [struct.unpack_from("HBBI", code, at) for at in range(0, len(code), 8)]
    data = struct.pack("<iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    at = value = 0
    while True:
        operation, true, false, constant = steps[at]
        at += 1
        if operation == 0x20:
            (value,) = struct.unpack_from("<I", data, constant)
        elif operation == 0x06:
            return int(constant)
        else:
            tests = {
                0x15: value == constant,
                0x25: value > constant,
                0x35: value >= constant,
                0x45: bool(value & constant),
            }
            at += true if tests[operation] else false


def verdict(machine: str, name: str, *arguments: int, profile: str = "program", loopback: bool = False) -> int:
    code = seccomp.compile_filter(machine, profile=profile, loopback=loopback)
    return decide(code, syscalls.numbers(machine)[name], syscalls.AUDIT_ARCHITECTURE[machine], arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_only_listed_calls_are_allowed(machine: str) -> None:
    lists = ("_FILES", "_MEMORY", "_WAITING", "_SIGNALS", "_SELF", "_CONNECTED", "_PROCESSES")
    names = {name for which in lists for name in getattr(seccomp, which).split()}
    conditional = {"clone", "ioctl", "prctl", "socketpair"}
    allowed = {name for name in syscalls.numbers(machine) if verdict(machine, name) == seccomp.ALLOW}
    assert allowed - conditional == names & set(syscalls.numbers(machine))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", DANGEROUS.split())
def test_dangerous_calls_are_told_to_the_supervisor(machine: str, name: str) -> None:
    assert verdict(machine, name) == seccomp.NOTIFY


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_decide_where_they_matter(machine: str) -> None:
    assert verdict(machine, "clone", 0x01200011) == seccomp.ALLOW
    assert verdict(machine, "clone", 0x10000011) == seccomp.NOTIFY
    assert verdict(machine, "clone", 17, profile="judge") == seccomp.NOTIFY
    assert verdict(machine, "clone", 0x003D0F00, profile="judge") == seccomp.ALLOW
    assert verdict(machine, "ioctl", 0, 0x5401) == seccomp.ALLOW
    assert verdict(machine, "ioctl", 0, 0x5412) == seccomp.NOTIFY
    assert verdict(machine, "prctl", 15) == seccomp.ALLOW
    assert verdict(machine, "prctl", 1) == seccomp.NOTIFY
    assert verdict(machine, "socketpair", 1) == seccomp.ALLOW
    assert verdict(machine, "socketpair", 2) == seccomp.NOTIFY
    assert {verdict(machine, "setsockopt", 3, 1, option) for option in (7, 8, 32, 33)} == {seccomp.ERRNO}
    assert {verdict(machine, "setsockopt", 3, 1, option) for option in (2, 9, 13)} == {seccomp.ALLOW}
    assert verdict(machine, "setsockopt", 3, 6, 7) == seccomp.ALLOW
    assert all(verdict(machine, "ioctl", 0, which) == seccomp.ALLOW for which in (0x40049409, 0x540F, 0x802C542A))
    for name, error in {"clone3": 38, "fchmodat2": 38, "fsetxattr": 95, "sync": 0}.items():
        assert verdict(machine, name) == seccomp.ERRNO | error
    assert verdict(machine, "socket", loopback=True) == seccomp.ALLOW
    assert verdict(machine, "execve", profile="judge") == seccomp.NOTIFY


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_is_killed_and_unknown_numbers_are_refused(machine: str) -> None:
    code = seccomp.compile_filter(machine)
    other = syscalls.AUDIT_ARCHITECTURE[MACHINES[1 - MACHINES.index(machine)]]
    assert decide(code, 0, other) == seccomp.KILL
    assert decide(code, 0, 0x40000003) == seccomp.KILL
    for number in (5000, 0x40000000, 0x40000001, 2**31 - 1):
        assert decide(code, number, syscalls.AUDIT_ARCHITECTURE[machine]) == seccomp.NOTIFY


@pytest.mark.parametrize("machine", MACHINES)
def test_a_place_asks_about_what_changes_files_and_about_no_other_file(machine: str) -> None:
    code = {
        seen: seccomp.compile_filter(machine, profile="workspace", loopback=True, is_seeing_writes=seen)
        for seen in (False, True)
    }
    numbers, architecture = syscalls.numbers(machine), syscalls.AUDIT_ARCHITECTURE[machine]

    def asks(name: str, *arguments: int, seen: bool = True) -> bool:
        return decide(code[seen], numbers[name], architecture, arguments) == seccomp.NOTIFY

    changing = [name for name in seccomp._CHANGING.split() if name in numbers]
    assert changing
    assert all(asks(name) for name in changing)
    assert not any(asks(name, seen=False) for name in changing)
    for name, place in {name: place for name, place in seccomp._OPENING.items() if name in numbers}.items():
        before = [0] * place
        for flags in (os.O_RDONLY, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, os.O_PATH):
            assert not asks(name, *before, flags)
        for flags in (
            os.O_WRONLY,
            os.O_RDWR,
            os.O_WRONLY | os.O_CREAT,
            os.O_CREAT,
            os.O_TRUNC,
            os.O_APPEND | os.O_RDWR,
        ):
            assert asks(name, *before, flags)
            assert not asks(name, *before, flags, seen=False)
    assert asks("sched_setaffinity", 1, seen=False)
    assert not any(asks("sched_setaffinity", pid, seen=False) for pid in (0, 2, 2**31))
    reading = seccomp._FILES.split()
    assert not any(asks(name) for name in reading if name in numbers and name not in changing)
