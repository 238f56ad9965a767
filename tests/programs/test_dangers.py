"""Dangers in JavaScript: planted ones are found, ordinary code has none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from proctor.domain.workspace import Seen
from proctor.programs import reading
from proctor.programs.tools.dangers import RULES, dangers

PLANTED = {
    "eval": ["eval(input)", "globalThis.eval(x)", "`${eval (x)}`", "x = /[`]/; eval(y); z = /[`]/"],
    "function": ["new Function('a', text)", "Function(text)()"],
    "vm": ["vm.runInNewContext(text)", "new vm.Script(text)"],
    "timer": ["setTimeout('go()', 3)"],
    "shell": [
        "const { exec } = require('child_process');\nexec(`ls ${x}`)",
        "const cp = require('node:child_process');\ncp.exec(x)",
        "import * as run from 'child_process';\nrun.exec(x)",
        "require('child_process').exec(x)",
        "execSync(x)",
        "spawn('ls', [x], { shell: true })",
    ],
    "load": ["require(name)", "import(path + '.js')"],
    "deserialize": ["v8.deserialize(bytes)"],
    "hash": ["crypto.createHash('md5')", 'createHash("SHA1")'],
    "cipher": ["createCipher('aes192', key)", "createCipheriv('aes-128-ecb', key, null)"],
    "tls": ["https.get({ rejectUnauthorized: false })", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = 0"],
    "interfaces": ["server.listen(80, '0.0.0.0')"],
    "permissions": ["fs.chmodSync(path, 0o777)"],
    "password": ["const password = 'hunter2'"],
    "random": ["Math.random()"],
}
ORDINARY = """
// eval(x) would be wrong here, and so would exec(x)
/* new Function("x") */
const { spawn } = require("node:child_process");
const crypto = require("node:crypto");
const table = require("./lib/table.js");
const found = /a(b)/.exec(line); const other = pattern.exec(text);
crypto.createHash("sha256"); this.evaluate(x); medieval(x); model.eval(x); isFunction(f); function f() {}
setTimeout(() => go(), 3); spawn("ls", [x]); server.listen(80, "127.0.0.1"); fs.chmodSync(path, 0o644);
const password = process.env.PASSWORD;
"""


@pytest.mark.parametrize("code", RULES)
def test_planted_dangers_are_found(code: str) -> None:
    for source in PLANTED[code]:
        assert code in {one["code"] for one in dangers("main.js", source)}, source


def test_ordinary_code_has_none() -> None:
    assert dangers("main.js", ORDINARY) == []


def test_the_gold_solutions_have_none() -> None:
    from proctor.benchmarks.problems.finding import find_problem

    for name in ("columns", "csv-rollup", "event-relay"):
        solution = find_problem(name, None).solution
        scripts = {path: content.decode() for path, content in solution.items() if path.endswith(".js")}
        assert scripts
        assert [one for path, text in scripts.items() for one in dangers(path, text)] == []


def test_a_finding_says_where_it_is() -> None:
    (found,) = dangers("a.js", "/*\n\n*/\nx\neval(y)\n")
    assert (found["file"], found["line"], found["severity"]) == ("a.js", 5, "MEDIUM")


def test_javascript_is_scanned_wherever_it_is() -> None:
    def scanned(files: dict[str, bytes], language: str) -> dict[str, Any]:
        return asyncio.run(reading.security(files, language, (), Seen()))

    for path in ("main.js", "tests/impl.cjs", "node_modules/x/y.mjs"):
        found = scanned({"main.js": b"", path: b"eval(x)"}, "javascript")
        assert [(one["file"], one["code"]) for one in found["dangers"]["findings"]] == [(path, "eval")]
        assert found["bandit"]["status"] == "not applicable"
    both = scanned({"main.py": b"x = 1\n", "y.js": b"eval(x)"}, "python")
    assert (both["bandit"]["status"], both["dangers"]["count"]) == ("ran", 1)
    assert scanned({"main.py": b"x = 1\n"}, "python")["dangers"]["status"] == "not applicable"
