"""Programs as models: limits, leftovers, and every way to hand over a prompt."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from models.asking import ask, make, prompt
from proctor.domain.errors import (
    NotFoundError,
    PlanError,
    ProviderFaultError,
    RequestRejectedError,
    UnusableAnswerError,
    UserError,
)
from proctor.domain.message import Image
from proctor.domain.model import Model
from proctor.domain.response import Response, Usage
from proctor.models import process
from proctor.models.command import _program
from proctor.models.offline import is_working

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "agents"
PNG = b"\x89PNG\r\n\x1a\n\x00\x01\x02"
NOBODY = 65534


def program(folder: Path, source: str, name: str = "agent.py") -> str:
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(0o755)
    return f"command/./{name}"


def model(folder: Path, source: str, variables: dict[str, str] | None = None, **settings: Any) -> Model:
    given = {"model": program(folder, source), **settings}
    return make(given, {"PATH": os.environ["PATH"], **(variables or {})}, folder)


def run(folder: Path, source: str, question: Any = "hi", timeout: float = 60.0, **settings: Any) -> Response:
    return ask(model(folder, source, **settings), question, timeout=timeout)


def is_alive(pid: int) -> bool:
    """Whether a process still runs; one that is dead but unburied does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int, seconds: int = 60) -> bool:
    for _ in range(100 * seconds):
        if not is_alive(pid):
            return True
        time.sleep(0.01)
    return False


def test_the_prompt_comes_on_stdin_and_the_answer_on_stdout(tmp_path: Path) -> None:
    response = run(tmp_path, "import sys; print(sys.stdin.read().upper(), end='')", "grüße 🦊")
    assert response.text == "GRÜSSE 🦊"
    assert response.latency_seconds is not None


def test_the_example_program_works() -> None:
    assert ask(make("command/./echo.sh", {"PATH": os.environ["PATH"]}, EXAMPLES), "one\ntwo").text == "ANSWER: two"


def test_the_prompt_can_be_an_argument_or_a_file_and_the_answer_a_file(tmp_path: Path) -> None:
    source = "import sys; print('|'.join(sys.argv[1:]), sys.stdin.read(), sep='|', end='')"
    assert run(tmp_path, source, args=["-p", "{prompt}"]).text == "-p|hi|"
    source = "import sys; print(open(sys.argv[1]).read() + '!', end='')"
    assert run(tmp_path, source, args="{prompt_file}").text == "hi!"
    source = "import sys; open(sys.argv[1], 'w').write('from a file'); print('noise')"
    assert run(tmp_path, source, args="{answer_file}").text == "from a file"


def test_json_on_stdout_can_hold_answer_usage_and_cost(tmp_path: Path) -> None:
    source = """import json; print(json.dumps({"result": "done", "usage": {"in": 3, "out": 4}, "cost": 0.125}))"""
    usage = {"input_tokens": "usage.in", "output_tokens": "usage.out", "cost_usd": "cost"}
    response = run(tmp_path, source, answer="result", usage=usage)
    assert (response.text, response.usage, response.cost_usd) == ("done", Usage(3, 4), Decimal("0.125"))
    with pytest.raises(RequestRejectedError, match="was to print JSON"):
        run(tmp_path, "print('not json')", answer="result")


def test_the_files_it_leaves_are_collected_and_the_workspace_stays_as_it_was(tmp_path: Path) -> None:
    workspace = tmp_path / "start"
    workspace.mkdir()
    (workspace / "kept.txt").write_text("kept")
    (workspace / "changed.txt").write_text("old")
    source = """
import os, pathlib
pathlib.Path("changed.txt").write_text("new text")
pathlib.Path("src").mkdir()
pathlib.Path("src/main.py").write_bytes(b"\\x00\\xff")
os.symlink("/etc/passwd", "link")
print("done", end="")
"""
    response = run(tmp_path, source, workspace="start", output="files")
    assert response.files == {"changed.txt": b"new text", "src/main.py": b"\x00\xff"}
    assert response.text == "done"
    assert (workspace / "changed.txt").read_text() == "old"
    assert not (workspace / "src").exists()


def test_each_question_gets_a_fresh_folder_that_is_gone_afterwards(tmp_path: Path) -> None:
    source = "import os; print(os.getcwd(), len(os.listdir()), end=''); open('x', 'w').close()"
    first, second = run(tmp_path, source).text, run(tmp_path, source).text
    assert first.endswith(" 0")
    assert second.endswith(" 0")
    assert first != second
    assert not Path(first.split()[0]).exists()


def test_images_are_put_into_a_folder_that_the_program_is_told_of(tmp_path: Path) -> None:
    source = "import sys, pathlib; print(pathlib.Path(sys.argv[1], 'attachment-1.png').read_bytes().hex(), end='')"
    asked = prompt("look", Image(PNG, "image/png"))
    assert run(tmp_path, source, asked, args="{folder}").text == PNG.hex()
    with pytest.raises(RequestRejectedError, match="takes no images"):
        run(tmp_path, source, asked)


def test_only_named_variables_are_handed_on_and_none_is_shown(tmp_path: Path) -> None:
    source = "import os, sys; print(os.environ.get('A_KEY'), os.environ.get('B_KEY'), end='')"
    environment = {"A_KEY": "s3cret-a", "B_KEY": "s3cret-b"}
    assert ask(model(tmp_path, source, environment, environment=["A_KEY"])).text == "s3cret-a None"
    source = "import os, sys; print('bad key', os.environ['A_KEY'], file=sys.stderr); sys.exit(3)"
    with pytest.raises(RequestRejectedError, match=r"exited with 3: bad key \[key\]"):
        ask(model(tmp_path, source, environment, environment="A_KEY"))
    with pytest.raises(UserError, match="is to be given C_KEY, which is not set"):
        model(tmp_path, source, environment, environment="C_KEY")


@pytest.mark.parametrize(
    ("code", "kind"), [(1, RequestRejectedError), (75, ProviderFaultError), (69, ProviderFaultError)]
)
def test_an_exit_code_is_a_fault_and_some_may_be_tried_again(tmp_path: Path, code: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=f"exited with {code}: oh no"):
        run(tmp_path, f"import sys; print('an answer'); print('oh no', file=sys.stderr); sys.exit({code})")


def test_a_program_that_kills_itself_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(RequestRejectedError, match="was ended by signal 9"):
        run(tmp_path, "import os; os.kill(os.getpid(), 9)")


def build(folder: Path, source: str, timeout: float = 60.0, **settings: Any) -> Response:
    """What an agent on this machine builds."""
    made = model(folder, source, sandbox=False, **settings)
    hidden = folder / "hidden"
    hidden.mkdir(exist_ok=True)
    runner: Any = None  # it works in none
    asked = made.build(prompt("build"), {"README.md": b"asked"}, timeout_seconds=timeout, runner=runner, hidden=hidden)  # type: ignore[attr-defined]
    return asyncio.run(asked)  # type: ignore[no-any-return]


WROTE = "import os, sys; open('main.py', 'w').write('1'); print('done');"


@pytest.mark.parametrize(
    ("end", "note"),
    [("sys.exit(3)", "exited with 3"), ("os.kill(os.getpid(), 9)", "was ended by signal 9|exited with 137")],
)
def test_an_agent_that_fails_after_it_has_built_something_is_taken_at_its_work(
    tmp_path: Path, end: str, note: str
) -> None:
    built = build(tmp_path, f"{WROTE} sys.stdout.flush(); {end}")
    assert (dict(built.files), built.text, built.is_cacheable) == ({"main.py": b"1"}, "done\n", False)
    assert built.note is not None
    assert re.fullmatch(f"the agent ({note})", built.note)
    assert build(tmp_path, f"{WROTE} sys.exit(3)", answer="result").text == ""
    whole = build(tmp_path, WROTE)
    assert (whole.note, whole.is_cacheable) == (None, True)


@pytest.mark.parametrize("source", ["import sys; sys.exit(3)", "import sys; open('README.md').read(); sys.exit(3)"])
def test_an_agent_that_fails_and_built_nothing_is_a_fault(tmp_path: Path, source: str) -> None:
    with pytest.raises(RequestRejectedError, match="exited with 3"):
        build(tmp_path, source)


def test_an_agent_that_asks_for_another_try_gets_it(tmp_path: Path) -> None:
    with pytest.raises(ProviderFaultError, match="exited with 75"):
        build(tmp_path, f"{WROTE} sys.exit(75)")


def test_an_agent_that_leaves_too_much_behind_has_handed_in_nothing(tmp_path: Path) -> None:
    many = "for n in range(1001): open(f'{n}.py', 'w').close()\n"
    for end in ("", "raise SystemExit(3)"):
        built = build(tmp_path, many + end)
        assert dict(built.files) == {}
        assert "left more than 1,000 files or 16 MiB behind" in built.text
    packages = many.replace("f'{n}", "f'node_modules/{n}").replace("for", "import os; os.mkdir('node_modules')\nfor", 1)
    built = build(tmp_path, f"{packages}open('main.js', 'w').close()")
    assert list(built.files) == ["main.js"], "what tools leave behind is no part of a program"


LITTER = """
open(b"odd\\xff.py", "w").close(); open("bell\\x07.py", "w").close(); os.symlink("main.py", "link.py")
os.makedirs("node_modules/x"); open("node_modules/x/y.js", "w").close(); os.symlink("y.js", "node_modules/x/z.js")
open(".DS_Store", "w").close()
"""


def test_what_is_left_behind_and_not_taken_is_said_with_the_reason(tmp_path: Path) -> None:
    untaken = {
        "odd\\xff.py": "its name cannot be shown",
        "bell\\x07.py": "its name cannot be shown",
        "link.py": "it is a link",
    }
    built = build(tmp_path, WROTE + LITTER)
    assert dict(built.files) == {"main.py": b"1"}
    tools = {name: f"left behind by a tool ({name.rstrip('/')})" for name in ("node_modules/", ".DS_Store")}
    assert dict(built.left_out) == {**untaken, **tools}
    collected = run(tmp_path, WROTE + LITTER, output="files")
    assert sorted(collected.files) == [".DS_Store", "main.py", "node_modules/x/y.js"]
    assert dict(collected.left_out) == {**untaken, "node_modules/x/z.js": "it is a link"}


def test_an_agent_that_passes_a_limit_is_taken_at_what_it_had_built(tmp_path: Path) -> None:
    forever = f"{WROTE}\nwhile True: print('and so on' * 9999)"
    built = build(tmp_path, forever)
    assert (dict(built.files), built.is_cacheable) == ({"main.py": b"1"}, False)
    assert built.note is not None
    assert built.note.startswith("the agent wrote more than")


HAUNT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True,
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
open({file!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
{end}
"""


def test_a_program_that_does_not_end_is_ended_with_all_its_descendants(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    with pytest.raises(ProviderFaultError, match="gave no answer within 3 s"):
        run(tmp_path, HAUNT.format(file=str(file), end="time.sleep(3600)"), timeout=3)
    assert all(wait_until_gone(int(pid)) for pid in file.read_text().split())


def test_a_process_that_is_left_behind_on_purpose_is_ended_too(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    assert run(tmp_path, HAUNT.format(file=str(file), end="print('bye', end='')")).text == "bye"
    assert all(wait_until_gone(int(pid)) for pid in file.read_text().split())


def test_a_process_that_forgot_its_environment_is_ended_with_its_group(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    source = f"""
import subprocess
child = subprocess.Popen(["/bin/sleep", "3600"], env={{}}, stdin=-3, stdout=-3, stderr=-3)
open({str(file)!r}, "w").write(str(child.pid))
print("bye", end="")
"""
    assert run(tmp_path, source).text == "bye"
    assert wait_until_gone(int(file.read_text()))


def test_cancelling_a_question_ends_the_program(tmp_path: Path) -> None:
    file = tmp_path / "pids"
    made = model(tmp_path, HAUNT.format(file=str(file), end="time.sleep(3600)"))

    async def go() -> None:
        task = asyncio.create_task(made.respond(prompt(), {}, timeout_seconds=60))
        while not (file.exists() and file.read_text()):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert all(wait_until_gone(int(pid)) for pid in file.read_text().split())


def test_processes_that_are_mostly_in_the_middle_of_exec_are_ended_too(tmp_path: Path) -> None:
    """During exec a process has no environment, and its mark cannot be seen; in the next moment it has one again."""
    path, again = tmp_path / "agent.sh", tmp_path / "again.sh"
    again.write_text(f"exec /bin/sh {again}")
    path.write_text(f"#!/bin/sh\nfor n in 1 2 3 4; do setsid /bin/sh {again} >/dev/null 2>&1 & echo $!; done")
    path.chmod(0o755)
    made = make({"model": "command/./agent.sh"}, {"PATH": os.environ["PATH"]}, tmp_path)
    started = [int(pid) for _ in range(6) for pid in ask(made).text.split()]
    assert len(started) == 24
    left = [pid for pid in started if not wait_until_gone(pid, seconds=20)]
    again.write_text("exit")  # their end, too
    assert not left


def test_a_process_of_others_without_an_environment_is_not_waited_for() -> None:
    with subprocess.Popen(["/bin/sleep", "60"], env={}) as child:
        assert not process._is_starting(str(child.pid), 0)
        child.kill()


def test_memory_is_limited(tmp_path: Path) -> None:
    source = "import time; hoard = bytearray(b'x') * 200_000_000; time.sleep(3600)"
    with pytest.raises(UnusableAnswerError, match="used more than 100 MB of memory, and was ended"):
        run(tmp_path, source, memory_mb=100)


def test_the_number_of_processes_is_limited(tmp_path: Path) -> None:
    source = "import subprocess, time\nfor _ in range(12): subprocess.Popen(['sleep', '3600'])\ntime.sleep(3600)"
    with pytest.raises(UnusableAnswerError, match="started more than 8 processes"):
        run(tmp_path, source, processes=8)


def test_endless_output_is_cut_off(tmp_path: Path) -> None:
    with pytest.raises(UnusableAnswerError, match="wrote more than 64 MB"):
        run(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 1_000_000)")


def test_a_large_prompt_that_is_not_read_is_no_problem(tmp_path: Path) -> None:
    assert run(tmp_path, "print('early', end='')", "x" * 5_000_000).text == "early"


def test_mistakes_are_found_before_anything_runs(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"]}
    (tmp_path / "plain.txt").write_text("text")
    for given, kind, words in (
        ("command/", PlanError, "needs a program"),
        ("command/./nowhere.sh", NotFoundError, "there is no program ./nowhere.sh"),
        ("command/no-such-program-anywhere", NotFoundError, "write command/./no-such-program-anywhere"),
        ("command/./plain.txt", UserError, "chmod \\+x ./plain.txt"),
        ("command/sh?workspace=nowhere", NotFoundError, "no folder 'nowhere'"),
        ("command/sh?memory_mb=0", PlanError, "at least 1"),
        ("command/sh?output=zip", PlanError, "must be one of 'text', 'files'"),
        ("command/sh?answer=a..b", PlanError, "no JMESPath"),
    ):
        with pytest.raises(kind, match=words):
            make(given, environment, tmp_path)


def test_another_program_is_another_model(tmp_path: Path) -> None:
    first = model(tmp_path, "print(1)").identity
    assert first == model(tmp_path, "print(1)").identity
    assert first != model(tmp_path, "print(2)").identity
    assert first != model(tmp_path, "print(1)", args="-x").identity
    assert first == model(tmp_path, "print(1)", memory_mb=100).identity


@pytest.mark.parametrize("name", ["coding_agents.yaml", "program_builders.yaml"])
def test_the_worked_examples_are_plans_that_can_be_read(name: str) -> None:
    import yaml

    from proctor.domain.plan import Plan

    plan = Plan.model_validate(yaml.safe_load((EXAMPLES / name).read_text()))
    environment = {"PATH": "/nowhere", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    from proctor.models.registry import create_model

    for each in plan.models:
        with pytest.raises(NotFoundError, match="on PATH"):
            create_model(each, environment=environment, folder=EXAMPLES)


BEHIND = "import os, shutil, sys; hidden = os.environ['HIDDEN']; place = os.path.dirname(os.getcwd());"


@pytest.mark.parametrize(
    "trick",
    [
        "shutil.rmtree(place + '/work'); os.symlink(hidden, place + '/work')",
        "os.rename(place, place + '2'); os.mkdir(place); os.symlink(hidden, place + '/work')",
    ],
)
def test_an_agent_cannot_hand_in_a_folder_that_it_was_not_given(
    tmp_path: Path, trick: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "places").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "places"))
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "main.py").write_text("the solution")
    variables = {"HIDDEN": str(hidden)}
    built = build(tmp_path, f"{BEHIND} {trick}", variables=variables, environment="HIDDEN")
    assert dict(built.files) == {}
    assert "put something else in the place of its folder: nothing was taken" in built.text
    with pytest.raises(UnusableAnswerError, match="put something else in the place of its folder"):
        run(tmp_path, f"{BEHIND} {trick}", variables=variables, environment="HIDDEN", output="files")


def test_a_link_is_no_answer_and_a_large_file_is_none_either(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for it")
    source = f"import os, sys; os.symlink({str(secret)!r}, sys.argv[1]); print('said', end='')"
    assert run(tmp_path, source, args="{answer_file}").text == "said"
    source = "import sys; open(sys.argv[1], 'wb').truncate(2**26 + 1)"
    with pytest.raises(UnusableAnswerError, match="wrote more than 64 MB"):
        run(tmp_path, source, args="{answer_file}")


def test_an_agent_outside_a_sandbox_does_not_find_the_hidden_folder_behind_other_processes(tmp_path: Path) -> None:
    if not is_working(("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--")):
        pytest.skip("bubblewrap cannot hide processes here")
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "main.py").write_text("the solution")
    source = """
import glob, os
found = [path for path in glob.glob("/proc/[0-9]*/root" + os.environ["HIDDEN"] + "/*")]
print(len(glob.glob("/proc/[0-9]*")), found, end="")
"""
    built = build(tmp_path, source, variables={"HIDDEN": str(hidden)}, environment="HIDDEN")
    assert re.fullmatch(r"[1-9] \[\]", built.text)


def test_an_agent_that_fails_before_it_says_what_it_was_to_is_taken_at_its_work(tmp_path: Path) -> None:
    built = build(tmp_path, f"{WROTE.replace('done', '{}')} sys.exit(3)", answer="result")
    assert (dict(built.files), built.note) == ({"main.py": b"1"}, "the agent exited with 3")


def test_a_prompt_that_no_argument_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RequestRejectedError, match="cannot be started: embedded null byte"):
        run(tmp_path, "", "a\0b", args="{prompt}")


def test_a_file_whose_name_is_no_text_is_not_taken(tmp_path: Path) -> None:
    odd = "open(b'\\xff.py', 'w').close(); open('main.py', 'w').close()"
    assert list(build(tmp_path, odd).files) == ["main.py"]
    assert list(run(tmp_path, odd, output="files").files) == ["main.py"]


def test_what_an_agent_locks_away_is_taken_all_the_same() -> None:
    """As another user than root, for whom there are no locks."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        (folder / "main.py").write_text("1")
        (folder / "closed").mkdir()
        (folder / "closed" / "inner.py").write_text("2")
        (folder / "main.py").chmod(0)
        (folder / "closed").chmod(0o400)
        is_root = os.geteuid() == 0
        if is_root:
            for path in (folder / "main.py", folder / "closed", folder, folder.parent):
                os.chown(path, NOBODY, -1)
            os.seteuid(NOBODY)
        try:
            assert dict(_program(folder, {}).files) == {"main.py": b"1"}
        finally:
            (folder / "closed").chmod(0o700)
            if is_root:
                os.seteuid(0)


def test_what_is_not_even_the_agents_own_is_not_taken() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make files of somebody else's")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "work"
        folder.mkdir()
        (folder / "main.py").write_text("1")
        (folder / "main.py").chmod(0o600)
        for path in (folder, folder.parent):
            os.chown(path, NOBODY, -1)
        os.seteuid(NOBODY)
        try:
            left = _program(folder, {})
        finally:
            os.seteuid(0)
    assert dict(left.files) == {}
    assert left.refusal == "The agent left main.py behind, which may not be read: nothing was taken."
