"""Code that unpacks code is not clean: nobody has read what it runs."""

from __future__ import annotations

import asyncio
import base64
import bz2
import lzma
import marshal
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.benchmarks.problems.folder import read_problem
from proctor.programs import reading
from proctor.programs.tools.unpacking import holds_code, unpacking

CATALOG = Path(__file__).parents[2] / "src" / "proctor" / "catalog" / "problems"
DANGEROUS = b"""
import subprocess, hashlib, sys
def main():
    for line in sys.stdin:
        subprocess.run(line, shell=True)
        print(hashlib.md5(line.encode()).hexdigest(), eval(line))
main()
"""
SCRIPT = (
    b"const {execSync} = require('child_process'); for (const line of []) { execSync(line); } function f() { return 1 }"
)
PACKED = base64.b85encode(zlib.compress(DANGEROUS)).decode()
B64 = base64.b64encode(DANGEROUS).decode()


def kind(path: str) -> str:
    return {"py": "python", "js": "javascript"}.get(path.rpartition(".")[2], "data")


def found(**files: str | bytes) -> dict[str, str]:
    named = {
        ".".join(name.rsplit("_", 1)): text if isinstance(text, bytes) else text.encode()
        for name, text in files.items()
    }
    return unpacking({path: kind(path) for path in named}, named)


PYTHON = {
    "runpy": f"""import base64, runpy, zlib, tempfile, os
path = os.path.join(tempfile.mkdtemp(), "x.py")
open(path, "wb").write(zlib.decompress(base64.b85decode({PACKED!r})))
runpy.run_path(path)""",
    "exec": f"import base64\nexec(base64.b64decode({B64!r}))",
    "exec of a name": "text = open('data.bin').read()\nexec(text)",
    "eval of a call": "eval(compile(open('x').read(), 'x', 'exec'))",
    "another name": "run = exec\nrun('1')",
    "an argument": "list(map(exec, ['1']))",
    "builtins": "import builtins\nbuiltins.exec('1')",
    "a computed builtin": "import builtins\ngetattr(builtins, 'ex' + 'ec')('1')",
    "the dictionary of builtins": "__builtins__['ex' + 'ec']('1')",
    "marshal": f"import marshal\n{marshal.dumps(compile('1', 'x', 'exec'))!r}\nmarshal.loads(b'')",
    "marshal by name": "from marshal import loads\nloads(b'')",
    "a code object": "import types\ntypes.CodeType()",
    "a code object by name": "from types import CodeType, FunctionType\nFunctionType(CodeType(), {})",
    "a code object by a star": "from types import *\nmake = FunctionType",
    "a type that is asked for and called": "import types\nisinstance(1, types.FunctionType(text, {})())",
    "another function's code": "f.__code__ = f.__code__.replace(co_code=text)",
    "a function of its own that comes too late": "exec(open('x').read())\ndef exec(text): pass",
    "a function of its own that may not be there": "if x:\n    def exec(text): pass\nexec(open('x').read())",
    "a function of its own that is taken away": "def exec(text): pass\ndel exec\nexec(open('x').read())",
    "a name that an error takes away": (
        "def exec(text): pass\ntry: f()\nexcept ValueError as exec: pass\nexec(open('x').read())"
    ),
    "a name taken out of the module": "def exec(text): pass\nglobals().pop('exec')\nexec(open('x').read())",
    "a console": "import code\ncode.InteractiveInterpreter().runsource('x')",
    "the interpreter's own functions": "import ctypes\nctypes.pythonapi.PyRun_SimpleString(b'1')",
    "a long literal": f"exec({DANGEROUS.decode()!r})",
    "an interpreter": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', text])",
    "pieces": f"import importlib\nname = 'x'\nimportlib.import_module(name)\nDATA = {'q9' * 300!r}",
    "a constant alone": f"DATA = {base64.b64encode(lzma.compress(DANGEROUS)).decode()!r}",
    "turned round": f"DATA = {B64[::-1]!r}",
    "hexadecimal": f"DATA = {bz2.compress(DANGEROUS).hex()!r}",
    "bytes": f"DATA = {zlib.compress(DANGEROUS)!r}",
}
JAVASCRIPT = {
    "eval": f"eval(Buffer.from('{base64.b64encode(SCRIPT).decode()}', 'base64').toString())",
    "eval of a file": "const text = fs.readFileSync('x', 'utf8'); eval(text)",
    "another name": "const run = eval; run(unescape(x))",
    "indirect": "const text = atob(x); (0, eval)(text)",
    "by a text": "globalThis['eval'](String.fromCharCode(1, 2))",
    "function": "new Function('a', Buffer.from(x).toString())(1)",
    "constructor": "[]['constructor']['constructor'](text)()",
    "vm": "require('vm').runInThisContext(zlib.inflateSync(x))",
    "module": "const M = require('module'); new M('x')._compile(text, 'x')",
    "wasm": "WebAssembly.instantiate(bytes)",
    "a constant alone": f"const data = '{base64.b64encode(zlib.compress(SCRIPT)).decode()}'",
    "data address": "import('data:text/javascript,' + text)",
    "pieces": f"const data = '{'q9' * 300}'; require(name)",
}


@pytest.mark.parametrize("source", PYTHON.values(), ids=PYTHON)
def test_python_that_makes_code_is_found(source: str) -> None:
    assert list(found(main_py=source)) == ["main.py"]


@pytest.mark.parametrize("source", JAVASCRIPT.values(), ids=JAVASCRIPT)
def test_javascript_that_makes_code_is_found(source: str) -> None:
    assert list(found(main_js=source)) == ["main.js"]


def test_code_in_a_file_beside_the_program_is_found() -> None:
    packed = base64.b64encode(zlib.compress(DANGEROUS))
    assert found(main_py="print(1)", data_txt=packed) == {"data.txt": "it comes apart into code"}


def test_what_one_file_decodes_another_may_run() -> None:
    assert found(main_py="from part import text\nexec(text)", part_py="text = bytes(n ^ 7 for n in NUMBERS)") != {}


HONEST = {
    "what a user says": "def run(words):\n    return eval(words)",
    "patterns": "import re\nTABLE = re.compile(PATTERN)\nmodel.eval()\ndb.exec(query)",
    "literals": "import ast\nast.literal_eval(text)\nexec('x = 1')",
    "basic authorisation": "import base64\nuser = base64.b64decode(header).decode()",
    "plugins": "import importlib\nfor name in NAMES:\n    importlib.import_module(f'plugins.{name}')",
    "a picture": f"PIXEL = {base64.b64encode(bytes(range(256)) * 2).decode()!r}",
    "a test that loads the program": "spec = importlib.util.spec_from_file_location('main', path)",
    "a long text": f"HELP = {'Use it with care. It prints one line for each file. ' * 20!r}",
    "compressed data": f"DATA = {base64.b64encode(zlib.compress(b'word ' * 300)).decode()!r}",
    "foreign functions": "import ctypes\nctypes.CDLL(None).getpid()",
    "types that are asked for": "import types\ndef f(x: types.FunctionType): return isinstance(x, types.FunctionType)",
    "types by name": "from types import FunctionType\nisinstance(x, (FunctionType, str))",
    "a function called compile": (
        "def compile(pattern): return pattern\n\n"
        "def search(pattern, text): return compile(pattern + chr(0)).search(text)\nNAMES = {'compile': compile}"
    ),
    "compile of a module": "from .engine import compile\nfind = compile\ncompile(open('x').read())",
    "an evaluator": "def eval(node, scope):\n    return [eval(one, scope) for one in node]\nbytes(3)",
    "a key": f"KEY = {'ab01' * 16!r}",
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_honest_python_is_left_alone(source: str) -> None:
    assert found(main_py=source) == {}


@pytest.mark.parametrize(
    "source",
    [
        "const m = /a/.exec(text); obj.eval(x); setTimeout(() => run(), 10)",
        "const user = Buffer.from(header, 'base64').toString()",
        "throw new TypeError(`a ${kind} is no ${other}`)",
        "const evaluate = (x) => x + 1; evaluate(3)",
        "class Thing { constructor(name) { this.name = name } }",
    ],
)
def test_honest_javascript_is_left_alone(source: str) -> None:
    assert found(main_js=source) == {}


def test_no_gold_solution_is_taken_for_packed_code() -> None:
    for folder in sorted(CATALOG.glob("*/problem.yaml")):
        problem = read_problem(folder.parent)
        assert unpacking({path: kind(path) for path in problem.solution}, dict(problem.solution)) == {}, problem.id


@given(st.binary(max_size=400))
def test_looking_for_code_never_fails(data: bytes) -> None:
    assert holds_code(data) in (True, False)
    assert isinstance(found(main_py=data, main_js=data, data_bin=data), dict)


def test_packed_code_is_unmeasured_and_not_clean() -> None:
    files = {"main.py": PYTHON["runpy"].encode()}
    security = asyncio.run(reading.security(files, "python", (), None))
    quality = asyncio.run(reading.quality(files, "python"))
    for tool in (security["bandit"], security["dangers"], quality["ruff"], quality["complexity"]):
        assert tool["status"] == "not run"
        assert "main.py unpacks code: " in str(tool["reason"])
    clean = asyncio.run(reading.security({"main.py": b"print(1)\n"}, "python", (), None))
    assert clean["bandit"]["status"] == "ran"
