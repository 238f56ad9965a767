"""What the supervisor decides: every way a run can end, as itself; every fault of its own, as a fault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.domain.sandbox import MIB, Case, Check, Program
from proctor.sandboxes.inside.artifacts import MAX_FILES, Collector
from proctor.sandboxes.inside.supervision import is_time_up
from proctor.sandboxes.orders import check_order, program_order
from sandboxes.conftest import SMALL, made
from sandboxes.supervisors import SupervisorClient, supervisor

LONG = replace(SMALL, wall_seconds=60)  # a busy machine ends nothing here
BACKENDS = ("namespaces", "bubblewrap", "none")


@pytest.fixture(scope="module", params=BACKENDS)
def slot(request: pytest.FixtureRequest) -> Iterator[tuple[str, SupervisorClient]]:
    # Groups of programs started by other tools would take this process in for a moment.
    changes = {} if request.param == "namespaces" else {"is_using_cgroups": False}
    with supervisor(made(request.param), **changes) as found:
        yield request.param, found


@pytest.mark.parametrize(
    ("source", "ending", "code"),
    [
        ("print('x')", "exited", 0),
        ("import sys; sys.exit(3)", "exited", 3),
        ("raise ValueError('x')", "exited", 1),
        ("import os; os.kill(os.getpid(), 11)", "crashed", None),
        ("while True: pass", "cpu", None),
        ("kept = []\nwhile True: kept.append(bytearray(8 << 20))", "memory", None),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "output", None),
        ("import os\nwhile True: os.write(2, b'x' * 65536)", "output", None),
        ("open('big', 'wb').write(bytes(32 << 20))", "file_size", None),
        ("kept = []\nwhile True: kept.append(open('/dev/null'))", "open_files", 1),
    ],
)
def test_a_run_ends_as_what_ended_it(
    slot: tuple[str, SupervisorClient], source: str, ending: str, code: int | None
) -> None:
    done = slot[1].run(Program(source), replace(LONG, cpu_seconds=1))
    assert done.ending == ending, done
    assert code is None or done.exit_code == code
    assert done.spent.seconds > 0


def test_the_clock_ends_what_nothing_else_does(slot: tuple[str, SupervisorClient]) -> None:
    done = slot[1].run(Program("import time; time.sleep(60)"), replace(LONG, wall_seconds=1))
    assert done.ending == "timeout"


def test_input_goes_in_and_files_come_back(slot: tuple[str, SupervisorClient]) -> None:
    source = "import sys\ndata = sys.stdin.read()\nopen('out', 'w').write(str(len(data)))\nprint(data[:3])"
    done = slot[1].run(Program(source, stdin=b"abc" * 100_000, files={"in/a": b"1"}, collect=True), LONG)
    assert done.stdout == b"abc\n"
    assert done.files["out"] == b"300000"
    assert done.files["in/a"] == b"1"
    unread = slot[1].run(Program("print('early')", stdin=b"x" * (4 << 20)), LONG)
    assert unread.stdout == b"early\n"


def test_refused_calls_are_counted_and_too_many_end_the_run(slot: tuple[str, SupervisorClient]) -> None:
    name, asked = slot
    if name == "none":
        pytest.skip("nothing is refused where there is no sandbox")
    few = asked.run(Program("import os\ntry: os.setuid(0)\nexcept OSError: print('no')"), LONG)
    assert (few.stdout, few.violations.get("setuid")) == (b"no\n", 1)
    many = asked.run(
        Program("import os\nwhile True:\n    try: os.setuid(0)\n    except OSError: pass"),
        replace(LONG, cpu_seconds=30),
    )
    assert many.ending == "violation"


def test_verdicts_say_what_failed_and_why(slot: tuple[str, SupervisorClient]) -> None:
    cases = (Case("one", "assert f(1) == 2"), Case("two", "assert f(2) == 3"))
    right = slot[1].check(Check("def f(x): return x + 1", cases), LONG)
    assert right.passed
    wrong = slot[1].check(Check("def f(x): return 2", cases), LONG)
    assert not wrong.passed
    assert [str(case.status) for case in wrong.cases] == ["passed", "failed"]
    gone = slot[1].check(Check("import os\ndef f(x): os._exit(0)", cases), LONG)
    assert not gone.passed
    assert "its process ended" in gone.message
    looped = slot[1].check(Check("def f(x):\n    while True: pass", cases), replace(LONG, cpu_seconds=1))
    assert (looped.passed, str(looped.ending)) == (False, "cpu")
    eaten = slot[1].check(Check("def f(x): return bytearray(1 << 30)", cases), LONG)
    assert (eaten.passed, str(eaten.ending)) == (False, "memory")
    slept = slot[1].check(Check("import time\ndef f(x): time.sleep(60)", cases), replace(LONG, wall_seconds=1))
    assert (slept.passed, str(slept.ending)) == (False, "timeout")


def test_time_that_a_tool_did_not_count_is_told_by_the_clock() -> None:
    assert is_time_up(counted=2.99, elapsed=3.1, limit=1)
    assert is_time_up(counted=0.004, elapsed=3.1, limit=1)
    assert not is_time_up(counted=0.004, elapsed=0.2, limit=1)
    assert not is_time_up(counted=0.05, elapsed=3.1, limit=1)


def test_what_is_in_force_is_said(slot: tuple[str, SupervisorClient]) -> None:
    said = slot[1].ask({"op": "describe"})
    assert said["syscalls"] == ("allowed" if slot[0] == "none" else "counted")


def test_a_slot_whose_user_cannot_be_had_answers_with_a_fault() -> None:
    if os.geteuid() != 0:
        pytest.skip("users are leased by root only")
    pool = made("namespaces")
    with supervisor(pool, uids=(58_000, 2)) as one, supervisor(pool, uids=(58_000, 2)) as two:
        assert one.run(Program("print(1)"), LONG).succeeded
        assert "58000 to 58001 are taken" in two.ask(program_order(Program("print(1)"), LONG, "python3"))["fault"]


def test_a_sandbox_that_cannot_be_entered_answers_with_a_fault() -> None:
    pool = made("namespaces")
    layout = {**pool.config["layout"], "base": "/proc/no-such-folder"}
    with supervisor(pool, layout=layout) as asked:
        assert "could not enter its sandbox" in asked.ask(program_order(Program("print(1)"), LONG, "python3"))["fault"]


def test_a_harness_that_hangs_up_during_a_run_leaves_nothing_running() -> None:
    with supervisor(made("namespaces")) as asked:
        assert asked.run(Program("print(1)"), LONG).succeeded
        asked.tell(program_order(Program("import time; time.sleep(600)"), replace(LONG, wall_seconds=600), "python3"))
    # The block ends only when the supervisor's thread does; ten minutes are not waited for.


def test_a_judge_that_is_lost_is_told_apart_from_a_wrong_answer() -> None:
    with supervisor(made("namespaces")) as asked:
        deadly = Check("def f(x): return x", (Case("one", "import os\nos._exit(9)"),))
        answer = asked.ask(check_order(deadly, LONG))
        assert answer["judge_is_lost"]
        assert not answer["passed"]
        assert asked.check(Check("def f(x): return x", (Case("one", "assert f(1) == 1"),)), LONG).passed


def _collected(folder: Path) -> Collector:
    collector = Collector()
    fd = os.open(folder, os.O_RDONLY)
    try:
        collector.walk(fd)
    finally:
        os.close(fd)
    return collector


def test_files_that_are_not_plain_are_left_where_they_are(tmp_path: Path) -> None:
    for name in ("a", "b/c", "b/d/e"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "b/twin").hardlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "x\ny").touch()
    with (tmp_path / "large").open("wb") as file:
        file.truncate(64 * MIB)
    (tmp_path / ("d/" * 20)).mkdir(parents=True)
    collector = _collected(tmp_path)
    assert collector.files == {"b/c": b"b/c", "b/d/e": b"b/d/e"}
    reasons = collector.refused
    assert reasons["fifo"] == "not a regular file"
    assert reasons["a"] == reasons["b/twin"] == "a file with several names"
    assert "bytes in all" in reasons["large"]
    assert reasons["x?y"] == "an unusable name"
    assert any("deeper" in reason for reason in reasons.values())
    assert "not opened" in reasons["link"]


def test_a_flood_of_files_is_not_walked_to_its_end(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 10):
        (tmp_path / str(number)).touch()
    collector = _collected(tmp_path)
    assert len(collector.files) == MAX_FILES
    assert collector.refused == {".": f"more than {MAX_FILES} entries"}
