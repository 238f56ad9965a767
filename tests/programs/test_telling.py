"""Whatever reads as code is read, whatever it is called; what is none is not; what nobody can read earns nothing."""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import io
import json
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.absence import break_tools, hide_packages
from proctor.domain.scorecard import Evidence
from proctor.domain.workspace import Seen
from proctor.programs import code_files, reading
from proctor.programs.code_files import code_of, named
from proctor.programs.quality_marks import quality_mark
from proctor.programs.security_marks import security_mark
from proctor.programs.tools.telling import is_python, is_sealed, may_be_javascript, told

PYTHON = "import os, subprocess\ndef run( words ):\n  subprocess.run(words, shell=True); return eval(words)\n"
SCRIPT = (
    'const tools = require("child_process");\n'
    "module.exports = function( x ) { if (x = 1) { debugger }\n tools.exec(x); return eval(x) }\n"
)
LOADS = '"""Starts it."""\n\nimport runner\n\nrunner.start("impl.txt")\n'
REQUIRES = 'require("./impl.txt")("ls");\n'
README = (
    "# Tally\n\nIt counts, e.g. `import tally`:\n\n```python\nimport tally\n\ntally.run(1)\n```\n\nSee [here](x.md).\n"
)
BENIGN = {
    "README.md": README,
    "NOTES": "Counts words.\nIt is a function of the class of words (see above); import them first.\n",
    "LICENSE": 'Copyright (c) 2026\n\nTHE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY (of any kind).\n',
    "data/list.json": '["function f() {}", "import os", "x.y(1)", "class A {", "a/b"]\n',
    "package.json": '{"name": "x", "scripts": {"start": "node main.js"}, "exports": "./main.js"}\n',
    "rows.jsonl": '{"code": "def f(): pass"}\n{"code": "import os"}\n',
    "words.csv": '"name","class"\n"Bob","import x from \'y\'"\n"Eve","new Date() => 1"\n',
    "numbers.csv": "1,2,3\n4,5,6\n",
    "dates.csv": "2024/01/02,1\n2024/01/03,2\n",
    "values.yaml": "name: tally\nport: 80\nrun: serve\n",
    "ci.yml": "on: [push]\njobs:\n  test:\n    if: always()\n    run: python -m pytest\n",
    "requirements.txt": "flask>=2.0\nrequests==2.31.0\n",
    "one.txt": "flask\n",
    ".gitignore": "*.pyc\nnode_modules/\n",
    ".env": "KEY=abc.def\nDEBUG=1\n",
    "pyproject.toml": '[project]\nname = "tally"\ndependencies = ["x"]\n',
    "setup.cfg": "[tool]\nfor = 1\n",
    "index.html": '<!doctype html>\n<div class="a"><script>function f() { x.y(1) }</script></div>\n',
    "part.html": '<div className="a">{x.map(y => z)}</div>\n',
    "icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>\n',
    "style.css": ".a { color: red }\n#b:not(.c) { width: calc(1px) }\n",
    "query.sql": "select max(x) from t where a = 'b';\n",
    "Makefile": "all:\n\tpython main.py\n",
    "expressions.txt": "sin(x) + cos(y)\nSUM(1, 2)\n",
    "empty": "",
}
BINARY = {
    "icon.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR import x.y( function(",
    "photo.jpg": b"\xff\xd8\xff\xe0\0\x10JFIF\0 x.y(",
    "dot.gif": b"GIF89a\x01\0\x01\0 => x.y(",
    "font.woff2": b"wOF2\0\x01\0\0 x.y(",
    "table.db": b"SQLite format 3\0\x10\0 import(",
    "short.csv": b"ab\r\ncd\r\n",
}
DISGUISES: Mapping[str, tuple[str, str, str]] = {
    "a text that Python loads": ("python", "impl.txt", PYTHON),
    "a page of words that is Python": ("python", "README.md", PYTHON),
    "no suffix": ("python", "impl", PYTHON),
    "data that are Python": ("python", "deep/values.json", PYTHON),
    "Python in another encoding": ("python", "latin", f"# coding: utf-7\n{PYTHON}"),
    "Python called JavaScript": ("python", "called.js", "0//1; import os\n"),
    "a text that Node loads": ("javascript", "script.txt", SCRIPT),
    "a page of words that is JavaScript": ("javascript", "GUIDE.md", SCRIPT),
    "a picture that is JavaScript": ("javascript", "x.gif", f"GIF89a = 1;\n{SCRIPT}"),
    "a script that asks not to be read": ("javascript", "asks", f"/* oxlint-disable */{SCRIPT}"),
    "a script that ends early": ("javascript", "early", f"if (0) return;\n{SCRIPT}"),
    "a module": (
        "javascript",
        "module",
        'import { exec } from "child_process";\nexport default (x) => exec(eval(x));\n',
    ),
    "JavaScript called Python": ("javascript", "called.py", f"1 //1; '''\n{SCRIPT}//'''\n"),
    "JavaScript with types": ("javascript", "typed.ts", f"const n: number = 1;\n{SCRIPT}"),
    "JavaScript behind a web page's comment": ("javascript", "a.html", f"<!-- x\n{SCRIPT}"),
    "JavaScript beside Python": ("javascript", "impl.js", SCRIPT),
    "JavaScript with a pattern that looks like a text": (
        "javascript",
        "quotes",
        '/"/; (function () { eval(x) })() ;/"/\n',
    ),
}


def encoded(files: Mapping[str, str | bytes]) -> dict[str, bytes]:
    return {path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()}


def read(files: Mapping[str, str | bytes], language: str = "python") -> dict[str, Any]:
    async def both() -> dict[str, Any]:
        contents = encoded(files)
        return {
            **await reading.quality(contents, language),
            **await reading.security(contents, language, (), Seen(writes={})),
        }

    return asyncio.run(both())


def files_of(tool: Mapping[str, Any]) -> set[str]:
    return {one["file"] for one in tool.get("findings", ())}


def evidence(findings: Mapping[str, Any]) -> Evidence:
    return Evidence("p", "0", {}, (), (), {}, {}, dict(findings))


def archive() -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as made:
        made.writestr("impl.py", PYTHON)
    return whole.getvalue()


def tape() -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as made:
        made.addfile(tarfile.TarInfo("impl.py"), io.BytesIO())
    return whole.getvalue()


SEALED = {
    "impl.zip": archive(),
    "impl.txt": archive(),
    "behind.png": BINARY["icon.png"] + archive(),
    "impl.tar": tape(),
    "impl.tgz": gzip.compress(tape()),
    "impl.so": b"\x7fELF\x02\x01\x01\0",
    "impl.node": b"\x7fELF\x02\x01\x01\0",
    "impl.wasm": b"\0asm\x01\0\0\0",
    "impl.pyc": importlib.util.MAGIC_NUMBER + bytes(12),
    "impl.dat": importlib.util.MAGIC_NUMBER + bytes(12),
}


@pytest.fixture(scope="module")
def honest() -> code_files.Code:
    return asyncio.run(code_of(encoded({"main.py": LOADS, "static/page.js": SCRIPT, **BENIGN, **BINARY})))


@pytest.mark.parametrize("path", [*BENIGN, *BINARY])
def test_what_is_no_code_is_not_read_as_code(path: str, honest: code_files.Code) -> None:
    assert path not in {*honest.names["python"].values(), *honest.names["javascript"].values(), *honest.sealed}


def test_files_that_are_called_what_they_are_keep_their_names(honest: code_files.Code) -> None:
    assert honest.names == {"python": {"main.py": "main.py"}, "javascript": {"static/page.js": "static/page.js"}}


@pytest.fixture(scope="module")
def disguised() -> code_files.Code:
    return asyncio.run(code_of({path: text.encode() for _, path, text in DISGUISES.values()}))


@pytest.mark.parametrize("name", DISGUISES)
def test_code_is_told_whatever_it_is_called(name: str, disguised: code_files.Code) -> None:
    language, path, text = DISGUISES[name]
    (given_as,) = (known for known, file in disguised.names[language].items() if file == path)
    assert given_as.endswith((".py",) if language == "python" else (".js", ".ts"))
    assert disguised.written(language)[given_as] == text.encode()


def test_code_is_read_whatever_it_is_called() -> None:
    for language, main in (("python", {"main.py": LOADS}), ("javascript", {"main.js": REQUIRES})):
        found = read(
            {**main, "impl.txt": PYTHON, "x/README.md": SCRIPT, "x/called.py": f"1 //1; '''\n{SCRIPT}//'''\n"}, language
        )
        for tool in ("ruff", "black", "docstrings", "bandit"):
            assert "impl.txt" in files_of(found[tool]), (language, tool)
        for tool in ("oxlint", "oxfmt", "dangers"):
            assert files_of(found[tool]) >= {"x/README.md", "x/called.py"}, (language, tool)
        assert not [path for tool in found.values() for path in files_of(tool) if path.startswith("read_")]


def test_a_program_in_two_languages_is_read_in_both() -> None:
    for language, main in (("python", {"main.py": LOADS}), ("javascript", {"main.js": REQUIRES})):
        found = read({**main, "impl.py": PYTHON, "impl.js": SCRIPT}, language)
        assert {found[tool]["status"] for tool in ("ruff", "black", "mypy", "oxlint", "oxfmt")} == {"ran"}
        assert "impl.py" in files_of(found["ruff"])
        assert "impl.js" in files_of(found["oxlint"])
        assert found["complexity"]["functions"] == 2


@pytest.mark.parametrize("path", SEALED)
def test_what_cannot_be_read_and_may_be_code_is_no_reason_for_a_mark(path: str) -> None:
    assert is_sealed(SEALED[path])


def test_a_program_gains_nothing_by_what_cannot_be_read() -> None:
    found = read({"main.py": LOADS, "impl.zip": SEALED["impl.zip"]})
    for tool in ("ruff", "black", "mypy", "complexity", "docstrings", "duplication", "bandit", "dangers"):
        assert (found[tool]["status"], found[tool]["reason"]) == ("not run", "impl.zip cannot be read")
    assert quality_mark(evidence(found), 0.15).value is None
    assert security_mark(evidence(found), 0.1).value is None
    assert found["place"]["status"] == "ran"


def test_an_archive_among_tests_that_nothing_names_is_no_part_of_the_program() -> None:
    found = read({"main.py": LOADS, "tests/data/old.zip": SEALED["impl.zip"]})
    assert found["ruff"]["status"] == "ran"
    assert found["bandit"]["status"] == "not run"
    named_one = read({"main.py": LOADS.replace("impl.txt", "tests/data/old.zip"), "tests/data/old.zip": archive()})
    assert named_one["ruff"]["reason"] == "tests/data/old.zip cannot be read"


def test_a_few_tidy_lines_in_another_language_count_for_as_much_as_they_are() -> None:
    ugly = "".join(f"function f{number}( x ) {{ if (x = {number}) {{ debugger }} }}\n" for number in range(40))
    alone, padded = read({"main.js": ugly}, "javascript"), read({"main.js": ugly, "x.py": '"""X."""\n'}, "javascript")
    assert padded["ruff"]["share"] == pytest.approx(1 / 41, abs=1e-6)
    assert padded["oxlint"]["share"] == pytest.approx(40 / 41, abs=1e-6)
    assert "share" not in alone["oxlint"]
    before, after = (quality_mark(evidence(found), 0.15) for found in (alone, padded))
    assert before.value is not None
    assert after.value is not None
    assert after.value == pytest.approx(before.value, abs=0.05)


def test_tools_that_read_a_language_which_is_not_there_do_not_apply() -> None:
    found = read({"main.py": LOADS})
    assert {name for name, tool in found.items() if tool["status"] == "not applicable"} >= {
        "oxlint",
        "oxfmt",
        "dangers",
    }


def test_what_nobody_can_tell_is_stated_and_unscored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hide_packages(monkeypatch, "oxlint")
    found = read({"main.js": REQUIRES, "impl.txt": SCRIPT}, "javascript")
    assert found["ruff"]["reason"].startswith("what is code could not be told: oxlint is not installed")
    assert found["dangers"]["status"] == "not run"
    monkeypatch.undo()

    break_tools(monkeypatch, tmp_path, "telling.py")
    assert read({"main.py": LOADS})["bandit"]["reason"] == "what is code could not be told: it broke"


def test_new_names_are_nobodys() -> None:
    files = dict.fromkeys(("read_0.py", "read_1/x.py", "a.txt", "b.txt", "c.ts"), b"")
    code = named(files, {"python": ["a.txt"], "javascript": ["b.txt", "c.ts"]}, [])
    assert code.names == {
        "python": {"read_0.py": "read_0.py", "read_1/x.py": "read_1/x.py", "read_2.py": "a.txt"},
        "javascript": {"read_3.js": "b.txt", "read_4.ts": "c.ts"},
    }
    assert code.original({"file": "read_2.py", "line": 1}) == {"file": "a.txt", "line": 1}
    assert code.original({"file": "elsewhere"}) == {"file": "elsewhere"}


def test_calls_alone_are_code_unless_the_name_says_another_language() -> None:
    assert told("x.txt", b"shop.open(1)\n") == ["python", "javascript"]
    assert told("main.js", b'require("./cli").run(1);\n') == []
    assert told("main.py", b"shop.open(1)\n") == []


def test_what_is_too_deep_for_this_parser_may_run_elsewhere() -> None:
    deep = b"x = " + b"+".join([b"f()"] * (20 * sys.getrecursionlimit()))
    assert is_python(deep, calls=True)
    assert not is_python(b"1," * 100_000, calls=True)


@given(st.binary() | st.text().map(str.encode), st.sampled_from(["x", "x.py", "x.js", "x.ts", "x.md"]))
def test_telling_never_fails(content: bytes, path: str) -> None:
    assert set(told(path, content)) <= {"python", "javascript", "sealed"}


@given(st.binary(max_size=80))
def test_what_stands_in_front_of_an_archive_hides_nothing(front: bytes) -> None:
    assert is_sealed(front + archive())


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_data_is_never_javascript(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    assert not may_be_javascript(text, calls=True)
