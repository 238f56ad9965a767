"""What several places of one program saw is told as one."""

from __future__ import annotations

from proctor.domain.workspace import Seen, together


def test_attempts_add_up_and_of_memory_the_highest_counts() -> None:
    a = Seen({"ptrace": 1}, 10, 1.5, {"10.0.0.1:80": 2}, {"/etc/passwd": 1})
    b = Seen({"ptrace": 2, "mount": 1}, 30, 0.5, {}, {"/etc/passwd": 1, "/usr/x": 4})
    assert together([a, b]) == Seen(
        {"ptrace": 3, "mount": 1}, 30, 2.0, {"10.0.0.1:80": 2}, {"/etc/passwd": 2, "/usr/x": 4}
    )
    assert together([a]) == a


def test_what_one_of_them_could_not_see_is_unknown() -> None:
    seen = together([Seen(cpu_seconds=1.0, writes={"/etc/passwd": 1}), Seen(peak_memory_bytes=5)])
    assert (seen.cpu_seconds, seen.writes, seen.peak_memory_bytes) == (None, None, 5)
