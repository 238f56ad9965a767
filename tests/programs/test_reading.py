"""What the tools find in a program: planted faults are found, and nothing in the program can silence them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes.absence import break_tools, hide_packages
from proctor.domain.workspace import Seen
from proctor.programs import reading
from proctor.programs.entry import is_test, sources
from proctor.programs.tools import running, scanning
from proctor.programs.tools.reading import WINDOW, docstrings, repeated, tokens
from proctor.programs.tools.running import ToolError, run_tool

CLEAN = '''"""Adds."""


def add(one: int, two: int) -> int:
    """Add two numbers."""
    return one + two
'''
DANGEROUS = '''"""Dangerous."""

import hashlib
import pickle
import subprocess


def run(words, data):
    """All of it is silenced, to no avail."""
    subprocess.run(words, shell=True)  # nosec
    hashlib.md5(data)  # nosec B324
    return pickle.loads(data), eval(words)  # nosec
'''
CONFIGURED = {
    "pyproject.toml": b'[tool.bandit]\nskips = ["B602"]\n[tool.ruff.lint]\nignore = ["ALL"]\n',
    ".bandit": b"[bandit]\nskips: B602,B324\n",
    "ruff.toml": b'lint.ignore = ["ALL"]\n',
    "mypy.ini": b"[mypy]\nplugins = evil.py\nignore_errors = True\n",
    "evil.py": b"import pathlib\npathlib.Path('/tmp/proctor-evil').write_text('ran')\ndef plugin(version): ...\n",
}


def quality(files: Mapping[str, str | bytes], language: str = "python") -> dict[str, Any]:
    return asyncio.run(reading.quality(_bytes(files), language))


def security(files: Mapping[str, str | bytes], language: str = "python", **options: Any) -> dict[str, Any]:
    return asyncio.run(reading.security(_bytes(files), language, options.get("pins", ()), options.get("seen", Seen())))


def _bytes(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    return {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}


def codes(tool: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(one["file"], one["code"]) for one in tool["findings"]]


def test_a_clean_program_has_no_findings() -> None:
    found = {**quality({"main.py": CLEAN}), **security({"main.py": CLEAN})}
    assert {name for name, tool in found.items() if tool["status"] == "ran"} >= {
        *("ruff", "black", "mypy", "complexity", "docstrings", "duplication", "bandit", "place")
    }
    assert {name: tool["count"] for name, tool in found.items() if tool.get("count")} == {}
    assert all(tool["version"] for name, tool in found.items() if tool["status"] == "ran" and name != "place")


def test_planted_dangers_are_found_whatever_the_program_says() -> None:
    found = security({"main.py": DANGEROUS, **CONFIGURED})
    assert {code for path, code in codes(found["bandit"]) if path == "main.py"} >= {"B602", "B324", "B301", "B307"}
    assert {one["severity"] for one in found["bandit"]["findings"]} >= {"HIGH", "MEDIUM"}


def test_danger_is_found_whatever_its_file_is_called() -> None:
    paths = ("tests/impl.py", "venv/x.py", "site-packages/x.py", ".tox/x.py", "-h.py")
    found = security({"main.py": CLEAN, **dict.fromkeys(paths, DANGEROUS)})
    for path in paths:
        assert {code for file, code in codes(found["bandit"]) if file == path} >= {"B602", "B324"}, path


def test_an_assert_is_no_danger_in_a_test_and_one_elsewhere() -> None:
    found = security({"main.py": "assert 1\n", "tests/test_main.py": "def test_it():\n    assert 1\n"})
    assert codes(found["bandit"]) == [("main.py", "B101")]


def test_harmless_findings_crowd_no_dangerous_one_out() -> None:
    found = security({"a.py": "assert 1\n" * 150, "z.py": DANGEROUS})["bandit"]
    assert found["count"] > 150
    assert ("z.py", "B602") in codes(found)


def test_what_the_place_saw_is_kept() -> None:
    seen = Seen(violations={"ptrace": 2}, egress={"10.0.0.1:80": 1}, writes={"/etc/passwd": 3})
    found = security({"main.py": CLEAN}, seen=seen)["place"]
    assert found["violations"] == {"ptrace": 2}
    assert found["egress"] == {"10.0.0.1:80": 1}
    assert found["writes"] == {"/etc/passwd": 3}
    assert found["count"] == 3
    assert [(one["code"], one["message"]) for one in found["findings"]] == [
        ("forbidden system call", "ptrace (2 times)"),
        ("address outside", "10.0.0.1:80 (once)"),
        ("write outside", "/etc/passwd (3 times)"),
    ]
    assert "reason" not in found
    assert security({"main.py": CLEAN}, seen=None)["place"]["status"] == "not run"


def test_what_the_place_could_not_see_is_said_and_not_none_of_it() -> None:
    found = security({"main.py": CLEAN}, seen=Seen(writes=None))["place"]
    assert (found["status"], found["writes"]) == ("ran", None)
    assert found["reason"] == "attempts to write outside are not seen here"
    assert security({"main.py": CLEAN}, seen=Seen(writes={}))["place"]["writes"] == {}


def test_lint_types_and_form_are_found_whatever_the_program_says() -> None:
    Path("/tmp/proctor-evil").unlink(missing_ok=True)
    source = "# mypy: ignore-errors\n# fmt: off\nimport os  # noqa\ndef f(x: int) -> str:\n    return x + undefined\n"
    found = quality({"main.py": source, **CONFIGURED})
    assert ("main.py", "F401") in codes(found["ruff"])
    assert ("main.py", "F821") in codes(found["ruff"])
    assert ("main.py", "name-defined") in codes(found["mypy"])
    assert found["docstrings"]["documented"] == 0
    assert not Path("/tmp/proctor-evil").exists(), "a plugin of the program's ran outside its place"


def test_a_file_is_read_whatever_it_is_called() -> None:
    paths = ("build/x.py", "node_modules/x.py", ".hidden/x.py", "--help.py")
    branches = "".join(f"    if x=={number}:\n        return {number}\n" for number in range(12))
    ugly = f"def hard(x: int) -> str:\n{branches}    return undefined\n"
    found = quality({"main.py": CLEAN, **dict.fromkeys(paths, ugly)})
    for path in paths:
        assert (path, "F821") in codes(found["ruff"])
        assert (path, "name-defined") in codes(found["mypy"])
        assert (path, "format") in codes(found["black"])
        assert (path, "complexity 13") in codes(found["complexity"])
    assert found["docstrings"]["documented"] == 2


def test_a_check_of_types_that_was_stopped_is_no_check() -> None:
    found = quality({"x.py": "def f() -> str:\n    return 1\n", "a-b/x.py": CLEAN})["mypy"]
    assert (found["status"], "mapping-file-paths-to-modules" in found["reason"]) == ("not run", True)


def test_form_is_blacks_own_at_any_usual_length_of_line() -> None:
    wide = f'"""Wide."""\n\nNAMES = [{", ".join(json.dumps("x" * 9) for _ in range(8))}]\n'
    assert quality({"main.py": wide})["black"]["formatted"] == 1
    found = quality({"main.py": CLEAN, "other.py": "x = {  'a':1 }\n"})["black"]
    assert (found["files"], found["formatted"], codes(found)) == (2, 1, [("other.py", "format")])


def test_complexity_counts_functions_of_both_languages() -> None:
    branches = "".join(f"    if x == {number}:\n        return {number}\n" for number in range(12))
    found = quality({"main.py": f"def hard(x):\n{branches}\ndef easy():\n    return 1\n"})["complexity"]
    assert (found["functions"], found["simple"], found["most"]) == (2, 1, 13)
    script = "function hard(x) {" + "".join(f"if (x == {n}) return {n};" for n in range(12)) + "}\nfunction easy() {}\n"
    found = quality({"main.js": script}, "javascript")["complexity"]
    assert (found["functions"], found["simple"]) == (2, 1)


def test_docstrings_are_counted_of_what_is_public() -> None:
    source = '"""M."""\ndef a():\n    """A."""\ndef b(): ...\ndef _c(): ...\nclass D:\n    def e(self): ...\n'
    found = docstrings({"main.py": source})
    assert (found["public"], found["documented"]) == (5, 2)
    assert [name for _, _, name in found["missing"]] == ["b", "D", "e"]
    assert docstrings({"main.py": "def broken(:"})["public"] == 0


def test_repeated_code_is_found_across_files_and_not_where_there_is_none() -> None:
    block = "\n".join(f"total = total + price[{number}] * amount_{number}" for number in range(12))
    other = "\n".join(f"name_{number} = read(line, {number})" for number in range(12))
    assert repeated({"a.py": block, "b.py": other})["repeated"] == 0
    found = repeated({"a.py": f"{block}\n{other}", "b.py": block})
    assert found["by_file"] == {"a.py": 12, "b.py": 12}
    assert found["lines"] == 36
    assert repeated({"a.py": f"X = [{', '.join(['0'] * 100)}]"})["repeated"] == 0
    short = " ".join(f"x{number}" for number in range(WINDOW - 1))
    assert repeated({"a.py": short, "b.py": short})["repeated"] == 0
    assert repeated({"a.py": f"{short} y", "b.py": f"{short} y"})["repeated"] == 2


def test_comments_are_no_code_and_texts_are_one_token() -> None:
    assert tokens("a = 'b # c'  # d\n'''e\nf''' // 2", is_python=True) == [
        *(("a", 1), ("=", 1), ("'b # c'", 1)),
        *(("'''e\nf'''", 2), ("/", 3), ("/", 3), ("2", 3)),
    ]
    assert [word for word, _ in tokens("x // y\n/* z */ #private", is_python=False)] == ["x", "#", "private"]


def test_an_empty_program_has_no_quality() -> None:
    assert {tool["status"] for tool in quality({"main.py": "\n"}).values()} == {"not applicable"}


def test_tests_are_not_the_programs_own_source_unless_it_names_them() -> None:
    names = ("main.py", "a/b.py", "tests/x.py", "a/test_b.py", "b_test.py", "venv/x.py", "main.js", "x.md")
    files = dict.fromkeys(names, b"")
    assert list(sources(files, "python")) == ["a/b.py", "main.py", "venv/x.py"]
    for main in (b"from tests.x import run", b"from tests import x", b"exec(open('tests/x.py').read())"):
        assert "tests/x.py" in sources({**files, "main.py": main}, "python")
    deeper = {**files, "main.py": b"import tests", "tests/__init__.py": b"from .x import *", "tests/y.py": b""}
    assert {"tests/__init__.py", "tests/x.py"} <= set(sources(deeper, "python"))
    assert "tests/y.py" not in sources(deeper, "python")
    script = {"main.js": b"require('./test/impl.mjs')", "test/impl.mjs": b"", "test/other.test.cjs": b""}
    assert list(sources(script, "javascript")) == ["main.js", "test/impl.mjs"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [("conftest.py", True), ("contest.py", False), ("x/test.js", True), ("a-test.mjs", True), ("latest.py", False)],
)
def test_tests_are_known_by_their_names(path: str, expected: bool) -> None:
    assert is_test(path) is expected


def test_a_program_hidden_among_its_tests_is_read() -> None:
    hidden = {
        "main.py": "from tests.impl import run\n",
        "tests/impl.py": "import os\ndef run( ):\n  return undefined\n",
    }
    found = quality(hidden)
    assert ("tests/impl.py", "F821") in codes(found["ruff"])
    assert ("tests/impl.py", "format") in codes(found["black"])


def test_a_tool_that_is_not_there_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_packages(monkeypatch, "ruff", "black", "mypy", "lizard", "bandit", "pip-audit")
    found = {**quality({"main.py": CLEAN}), **security({"main.py": CLEAN}, pins=("x==1",))}
    for name in ("ruff", "black", "mypy", "complexity", "bandit", "pip-audit"):
        assert found[name]["status"] == "not run"
        assert "not installed" in found[name]["reason"]


def test_a_tool_that_fails_is_stated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    break_tools(monkeypatch, tmp_path, "-m ruff", "-m mypy")
    found = quality({"main.py": CLEAN})
    assert found["ruff"]["status"] == found["mypy"]["status"] == "not run"
    assert "it broke" in found["ruff"]["reason"]


def test_tools_have_limits(tmp_path: Path) -> None:
    python = running.module("x")[0]
    with pytest.raises(ToolError, match=r"longer than 0\.5 s"):
        asyncio.run(run_tool((python, "-c", "import time; time.sleep(60)"), tmp_path, 0.5))
    with pytest.raises(ToolError, match="signal 9"):
        asyncio.run(run_tool((python, "-c", "import os; os.kill(os.getpid(), 9)"), tmp_path))
    code, _, err = asyncio.run(run_tool((python, "-c", "bytearray(4 << 30)"), tmp_path))
    assert code == 1
    assert b"MemoryError" in err


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_tool_that_says_without_end_is_ended(stream: str, tmp_path: Path) -> None:
    endless = f"import sys\nwhile True: sys.{stream}.write('x' * 65536)"
    with pytest.raises(ToolError, match="printed more than 16777216 bytes"):
        asyncio.run(run_tool((running.module("x")[0], "-c", endless), tmp_path))


def test_packages_are_audited_where_the_database_can_be_reached_and_it_is_said_where_not() -> None:
    assert security({"main.py": CLEAN})["pip-audit"]["status"] == "not applicable"
    found = security({"main.py": CLEAN}, pins=("requests==2.0.0",))["pip-audit"]
    if found["status"] == "ran":
        assert found["count"] > 0  # this version has vulnerabilities everybody knows
    else:
        assert "it ended with exit code" in found["reason"]
        assert found["version"]


def test_an_audit_that_fails_says_so_in_its_own_words() -> None:
    reason = security({"main.py": CLEAN}, pins=("no pin at all",))["pip-audit"]["reason"]
    assert reason.startswith("it ended with exit code 1: ")
    assert "no pin at all" in reason
    assert "reached" not in reason


def test_npm_audit_is_for_programs_with_npm_packages() -> None:
    assert security({"main.js": ""}, "javascript")["npm-audit"]["status"] == "not applicable"
    found = security({"main.js": ""}, "javascript", pins=("left-pad@1.0.0",))
    assert found["pip-audit"]["status"] == found["safety"]["status"] == "not applicable"
    assert security({"main.py": ""}, pins=("x==1",))["npm-audit"]["reason"] == "the program is not JavaScript"


TRIVY = """#!/bin/sh
echo "$@" "in $(pwd)" >> CALLS
if [ "$1" = version ]; then echo '{"Version": "0.50.0", "VulnerabilityDB": {"UpdatedAt": "UPDATED"}}'; exit; fi
grep -q tests "$(echo "$@" | sed 's/.*--secret-config \\([^ ]*\\).*/\\1/')" || exit 1
for folder in "$@"; do :; done
[ -f "$folder/requirements.txt" ] && [ -f "$folder/.env" ] || exit 1
cat <<'END'
REPORT
END
"""
REPORT = {
    "Results": [
        {
            "Target": "main.py",
            "Secrets": [{"RuleID": "aws-access-key-id", "Severity": "CRITICAL", "Title": "AWS key", "StartLine": 3}],
        },
        {
            "Target": "requirements.txt",
            "Vulnerabilities": [{"VulnerabilityID": "CVE-1", "Severity": "HIGH", "Title": "x"}],
        },
        {"Target": "nothing"},
    ]
}
SCANNED = {"main.py": CLEAN, "requirements.txt": "requests==2.0.0\n", ".env": "KEY=1\n", ".trivyignore": "CVE-1\n"}


@pytest.fixture
def trivy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], list[str]]:
    """A stand-in that prints what Trivy documents, with a database so old: few machines have the tool itself."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TRIVY_CACHE_DIR", "/somewhere/trivy")
    calls = tmp_path / "calls"

    def install(days: float) -> list[str]:
        updated = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.123456789Z")
        text = TRIVY.replace("CALLS", str(calls)).replace("UPDATED", updated).replace("REPORT", json.dumps(REPORT))
        (tmp_path / "trivy").write_text(text)
        (tmp_path / "trivy").chmod(0o755)
        return calls.read_text().splitlines() if calls.exists() else []

    return install


def test_trivy_is_given_every_file_and_none_of_the_programs_settings(trivy: Callable[[float], list[str]]) -> None:
    trivy(0.5)
    found = security(SCANNED)["trivy"]
    assert (found["status"], found["version"]) == ("ran", "0.50.0")
    assert [(one["code"], one["severity"]) for one in found["findings"]] == [
        ("aws-access-key-id", "CRITICAL"),
        ("CVE-1", "HIGH"),
    ]
    *_, scan = trivy(0.5)
    words, _, started_in = scan.partition(" in ")
    assert words.split()[-1] != started_in
    assert "--cache-dir /somewhere/trivy" in words


def test_an_old_database_of_trivy_is_stated_and_unscored(trivy: Callable[[float], list[str]]) -> None:
    trivy(scanning.DATABASE_DAYS + 1.5)
    found = security(SCANNED)["trivy"]
    assert found["status"] == "not run"
    assert (
        found["reason"]
        == f"its database is {scanning.DATABASE_DAYS + 1} days old; {scanning.DATABASE_DAYS} are the most"
    )
    assert found["database_updated"]
    page = Path(__file__).parents[2] / "docs" / "reference" / "scorecard.md"
    assert f"one older than {scanning.DATABASE_DAYS} days is stated" in page.read_text(encoding="utf-8")
    trivy(scanning.DATABASE_DAYS - 0.5)
    assert security(SCANNED)["trivy"]["status"] == "ran"


def test_a_trivy_that_fails_is_stated(tmp_path: Path, trivy: Callable[[float], list[str]]) -> None:
    trivy(0)
    assert security({"main.py": CLEAN})["trivy"]["status"] == "not run"
    (tmp_path / "trivy").write_text("#!/bin/sh\necho '{}'\nexit 1\n")
    assert "no database" in security(SCANNED)["trivy"]["reason"]
