"""Shell completion, and a start that does not make anybody wait."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from commands import Cli

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

HEAVY = ("sqlalchemy", "alembic", "pydantic", "rich", "jinja2", "yaml", "orjson", "asyncio", "ssl")


def completed(environment: dict[str, str], *words: str) -> list[str]:
    """What bash would offer for the last word."""
    found = subprocess.run(
        [sys.executable, "-m", "proctor"],
        env={
            **environment,
            "_PROCTOR_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(words),
            "COMP_CWORD": str(len(words) - 1),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in found.stderr, found.stderr
    return [line.partition(",")[2] for line in found.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o nosort -F"), ("zsh", "#compdef proctor"), ("fish", "complete --no-files")]
)
def test_each_shell_gets_its_script(cli: Cli, shell: str, mark: str) -> None:
    ended = cli("completion", shell)
    assert ended.code == 0
    assert mark in ended.out
    assert "_PROCTOR_COMPLETE" in ended.out


def test_bash_accepts_the_script(cli: Cli) -> None:
    Path("script.sh").write_text(cli("completion", "bash").out)
    assert subprocess.run(["bash", "-n", "script.sh"], check=False).returncode == 0


def test_commands_flags_runs_benchmarks_and_models_are_completed(cli: Cli, environment: dict[str, str]) -> None:
    run_id = cli("run", "puzzles", "-m", "demo/strong", "--limit", 2, "--json").json["run_id"]
    assert set(completed(environment, "proctor", "r")) >= {"run", "resume", "runs"}
    assert completed(environment, "proctor", "show", run_id[:3]) == [run_id]
    assert completed(environment, "proctor", "resume", "la") == ["latest"]
    assert "puzzles" in completed(environment, "proctor", "run", "puz")
    assert "openai/" in completed(environment, "proctor", "run", "puzzles", "-m", "open")
    assert completed(environment, "proctor", "run", "-m", "demo/st") == ["demo/strong"]
    assert "--fail-under" in completed(environment, "proctor", "run", "--fail")
    assert completed(environment, "proctor", "benchmarks", "sh") == ["show"]
    assert completed(environment, "proctor", "db", "up") == ["upgrade"]


def test_completion_says_nothing_when_the_database_is_damaged(home: Path, environment: dict[str, str]) -> None:
    home.mkdir()
    (home / "proctor.db").write_bytes(b"no database" * 1000)
    assert completed(environment, "proctor", "show", "x") == []


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_the_version_and_the_help_load_nothing_heavy(environment: dict[str, str], argument: str) -> None:
    program = (
        "import sys; sys.argv = ['proctor', sys.argv[1]]\n"
        "from proctor.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        f"print('loaded:', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, argument], env=environment, capture_output=True, text=True, check=True
    )
    assert "proctor" in ended.stdout
    assert ended.stdout.rstrip().endswith("loaded: []")


def test_completing_a_command_imports_no_command(environment: dict[str, str]) -> None:
    program = (
        "import os, sys\nos.environ.update(_PROCTOR_COMPLETE='bash_complete', COMP_WORDS='proctor r', COMP_CWORD='1')\n"
        "sys.argv = ['proctor']\nfrom proctor.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in sys.modules if name.startswith('proctor.cli.') and name != 'proctor.cli.main'])"
    )
    ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert "plain,run" in ended.stdout
    assert ended.stdout.splitlines()[-1] == "[]"


def test_every_command_has_help_that_starts_with_what_it_does(cli: Cli) -> None:
    commands = [line.split()[0] for line in cli("--help").out.partition("Commands:")[2].splitlines() if line.strip()]
    assert "run" in commands
    for name in commands:
        ended = cli(name, "--help")
        assert ended.code == 0
        assert ended.out.startswith(f"Usage: proctor {name}")
        assert "  --help" in ended.out or "-h, --help" in ended.out


def test_a_run_sends_its_first_request_before_loading_what_only_reports_need(environment: dict[str, str]) -> None:
    Path("watching.py").write_text(
        "import sys\n\ndef answer(text: str) -> str:\n"
        "    names = ('sqlalchemy', 'alembic', 'rich', 'pandas', 'scipy')\n"
        "    print('loaded:', [name for name in names if name in sys.modules], file=sys.stderr)\n"
        "    return 'ANSWER: 1'\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "proctor", "run", "arithmetic", "-m", "python/watching:answer", "--limit", "1"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "loaded: []" in ended.stderr


def test_a_run_without_a_report_computes_its_figures_without_loading_what_builds_queries_and_charts(
    environment: dict[str, str],
) -> None:
    Path("leaving.py").write_text(
        "import atexit, sys\n\n"
        "NAMES = ('sqlalchemy', 'alembic', 'rich', 'urllib.request', 'xml.sax', 'proctor.reports.charts')\n"
        "def leave() -> None:\n"
        "    print('at the end:', [name for name in NAMES if name in sys.modules], file=sys.stderr)\n\n"
        "atexit.register(leave)\n\n"
        "def answer(text: str) -> str:\n"
        "    return 'ANSWER: 1'\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "proctor", "run", "arithmetic", "-m", "python/leaving:answer", "--limit", "2", "--json"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert '"accuracy"' in ended.stdout
    assert "at the end: []" in ended.stderr
