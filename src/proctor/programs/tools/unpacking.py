"""Finds code that makes code: what runs is then not what the tools have read. A script of its own, like other readers.

Four things tell: a constant, or a file, comes apart into code; a code object is made by hand; a computed text is run in
a program that decodes something or carries what could be code; a module is loaded by a computed name beside a long
constant that nobody can read. `eval` of what a user says is none of these: scanners find that, and say how bad it is.
"""

from __future__ import annotations

import ast
import base64
import binascii
import bz2
import codecs
import json
import lzma
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor.programs.tools.binding import asked_types, names_from, own_names
from proctor.programs.tools.telling import is_python, is_sealed, may_be_javascript

MAX_LITERAL = 80
"""A longer text that is run as code is a program that no tool has read."""
MIN_OPAQUE = 400
"""From this length on, a constant without words could be a program."""
_LAYERS, _MAX_BYTES, _MEMORY = 5, 4 << 20, 64 << 20
_RUNNERS = frozenset({"exec", "eval", "compile"})
_MODULES = {
    "marshal": ("load", "loads"),
    "code": ("InteractiveInterpreter", "InteractiveConsole", "interact"),
    "codeop": ("compile_command", "Compile", "CommandCompiler"),
    "types": ("CodeType", "FunctionType"),
    "ctypes": ("pythonapi", "PyDLL"),
}
"""What makes code of values, wherever these come from."""
_NAMED_TYPES = ("types", "ctypes")
"""Of these, importing a name makes nothing yet: they hold types that honest programs ask for."""
_LOADERS = frozenset(
    (
        *("import_module", "__import__", "spec_from_file_location", "spec_from_loader", "exec_module", "load_module"),
        *("SourceFileLoader", "SourcelessFileLoader", "run_path", "run_module"),
    )
)
_DECODERS_CALLED = re.compile(
    rb"\b(?:[a-z0-9_]*b(?:16|32|64|85)decode|a85decode|unhexlify|a2b_\w+|fromhex|decompress\w*|codecs|chr|bytes|bytearray"
    rb"|translate|maketrans|atob|fromCharCode|fromCodePoint|unescape|inflate\w*|gunzip\w*|brotli\w*|Uint8Array)\s*[.(]"
    rb"|Buffer\s*\.\s*from\s*\(|\s\^\s"
)
"""What makes a text of something else."""
_READS_FILES = re.compile(rb"\bopen\s*\(|\bread(?:File(?:Sync)?|_text|_bytes)\s*\(")
_OPAQUE = re.compile(rb"[^\s\"'`]{%d,}" % MIN_OPAQUE)
_PACKED = re.compile(rb"[\w+/=!#$%&()*,.:;<>?@^`{|}~\-\s]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXTS = re.compile(r""""((?:\\.|[^"\\\n]){64,})"|'((?:\\.|[^'\\\n]){64,})'|`((?:\\.|[^`\\]){64,})`""", re.DOTALL)
_SCRIPT_RUNS = {
    "eval of a computed text": r"(?<![\w$.])eval\s*\(\s*(?![\"')])|[,=(]\s*eval\b(?!\s*\()|\[\s*[\"'`]eval[\"'`]\s*\]",
    "a function made of a computed text": (
        r"(?<![\w$.])Function\s*\((?!\s*(?:[\"'][^\"'\n]*[\"']\s*,?\s*)*\))|[,=(]\s*Function\b(?!\s*\()"
    ),
    "vm": r"\brunIn(?:New|This)?Context\s*\(|\bvm\s*\.\s*(?:Script|compile|SourceTextModule)|\bnew\s+Script\s*\(",
}
_SCRIPT_MAKES = {
    "a constructor taken from an object": r"\[\s*[\"'`]constructor[\"'`]\s*\]|\.constructor\s*\.\s*constructor\b",
    "the loader's own compiler": r"\b_compile\s*\(|\b_extensions\b|\bregisterHooks\s*\(|\bmodule\s*\.\s*register\s*\(",
    "WebAssembly": r"\bWebAssembly\s*\.",
    "a module from a data address": r"(?<![\w$.])import\s*\(\s*[^)\n]{0,40}data:",
}
_WORDS = re.compile(
    r"\b(?:def|class|import|from|lambda|return|raise|with|print|for|while|if|in|try|const|let|var|function|require|new|async)\b"
)
"""Words of both languages; text that was decoded by mistake has none."""
_SCRIPT_LOADS = r"(?<![\w$.])(?:require|import)\s*\(\s*(?![\s\"'`)])|\bcreateRequire\s*\("


@dataclass(frozen=True)
class Signs:
    """What a file does that could be, or is, making code; all empty for almost every program."""

    makes: str = ""
    runs: str = ""
    """A text that was computed."""
    loads: str = ""
    """A module by a computed name."""
    is_carrying: bool = False
    """Whether it decodes something, or holds a text that is code or that nobody can read."""


def read_python(content: bytes) -> Signs:
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(content)
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return Signs()  # other tools say that they cannot read it
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    plain = [text.encode("utf-8", "replace") if isinstance(text, str) else text for text in texts]
    carried = [text for text in plain if isinstance(text, bytes) and len(text) >= 64]
    makes = next(_made_code(tree), "")
    if not makes and any(map(holds_code, carried)):
        makes = "a constant comes apart into code"
    runs = next(_run_text(tree), "")
    is_carrying = any(map(_is_code, carried)) or _is_decoding(content, runs)
    return Signs(makes, runs, next(_loaded_code(tree), ""), is_carrying)


def _is_decoding(content: bytes, runs: str) -> bool:
    """Almost every program reads files: that counts only beside what runs a text."""
    is_read = bool(runs) and _READS_FILES.search(content) is not None
    return is_read or _DECODERS_CALLED.search(content) is not None or _OPAQUE.search(content) is not None


def _run_text(tree: ast.Module) -> Iterator[str]:
    runners = _RUNNERS - own_names(tree, _RUNNERS)
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in runners
        if isinstance(node, ast.Call) and is_call and not _is_literal(node.args[0] if node.args else None):
            yield f"line {node.lineno}: a computed text is run"


def _made_code(tree: ast.Module) -> Iterator[str]:
    aliases = _imported(tree)
    yield from _renamed_runners(tree)
    yield from _code_objects(tree, aliases)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in ("__builtins__", "__loader__"):
            yield f"line {node.lineno}: {node.id}"
        elif isinstance(node, ast.ImportFrom) and node.module in (*_MODULES, "builtins"):
            names = {alias.name for alias in node.names} & {*_MODULES.get(node.module, ()), *_RUNNERS, "*"}
            if names and node.module not in _NAMED_TYPES:
                yield f"line {node.lineno}: {node.module}.{min(names)}"
        elif _is_computed_name(node, aliases):
            yield f"line {node.lineno}: a builtin by a computed name"  # type: ignore[attr-defined]
        elif isinstance(node, ast.List | ast.Tuple) and _is_interpreter_line(node):
            yield f"line {node.lineno}: an interpreter is given a computed program"


def _renamed_runners(tree: ast.Module) -> Iterator[str]:
    """`exec` of a long text, and `exec` that is not called where it is named."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    runners = _RUNNERS - own_names(tree, _RUNNERS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in runners:
            first = node.args[0] if node.args else None
            if _is_literal(first) and not _is_short_literal(first):
                yield f"line {node.lineno}: {node.func.id} of a long text"
        elif isinstance(node, ast.Name) and node.id in runners and id(node) not in called and _is_read(node):
            yield f"line {node.lineno}: {node.id} under another name"


def _code_objects(tree: ast.Module, aliases: Mapping[str, str]) -> Iterator[str]:
    """What makes code of values, by its module's name or by its own, where it is more than a type that is asked for."""
    asked = asked_types(tree)
    named = names_from(tree, {module: _MODULES[module] for module in _NAMED_TYPES})
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and id(node) not in asked:
            module = aliases.get(node.value.id, "")
            if node.attr in _MODULES.get(module, ()) or (module == "builtins" and node.attr in _RUNNERS):
                yield f"line {node.lineno}: {module}.{node.attr}"
        if isinstance(node, ast.Name) and node.id in named and _is_read(node) and id(node) not in asked:
            yield f"line {node.lineno}: {named[node.id]}"
        if isinstance(node, ast.Attribute) and node.attr == "__code__" and not _is_read(node):
            yield f"line {node.lineno}: a function is given other code"


def _imported(tree: ast.Module) -> dict[str, str]:
    """Names of modules here -> the modules."""
    return {
        (alias.asname or alias.name).partition(".")[0]: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def _is_read(node: ast.Name | ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_literal(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _is_short_literal(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) <= MAX_LITERAL


def _is_computed_name(node: ast.AST, aliases: dict[str, str]) -> bool:
    """`getattr(builtins, x)` and `vars(builtins)[x]`, where x could be anything."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
        return False
    first = node.args[0]
    is_builtins = isinstance(first, ast.Name) and aliases.get(first.id) == "builtins"
    is_imported = isinstance(first, ast.Call) and isinstance(first.func, ast.Name) and first.func.id == "__import__"
    return node.func.id in ("getattr", "vars", "dir") and (is_builtins or is_imported)


def _is_interpreter_line(node: ast.List | ast.Tuple) -> bool:
    """`[sys.executable, "-c", x]`, `("node", "-e", x)`."""
    for option, text in zip(node.elts, node.elts[1:], strict=False):
        is_option = isinstance(option, ast.Constant) and option.value in ("-c", "-e", "-p", "--eval", "--print")
        first = node.elts[0]
        name = first.value if isinstance(first, ast.Constant) else ast.unparse(first)
        is_interpreter = re.search(r"python|node|executable", str(name)) is not None
        if is_option and is_interpreter and not _is_short_literal(text):
            return True
    return False


def _loaded_code(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in _LOADERS and not all(isinstance(one, ast.Constant) for one in node.args):
            yield f"line {node.lineno}: {name} of what is computed"


def read_javascript(content: bytes) -> Signs:
    """By words: there is no parser of JavaScript here."""
    code = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), content.decode("utf-8", "replace"))
    carried = [max(texts, key=len).encode("utf-8", "replace") for texts in _TEXTS.findall(code)]
    makes = _first(_SCRIPT_MAKES, code)
    if not makes and any(map(holds_code, carried)):
        makes = "a constant comes apart into code"
    loads = _first({"a computed module": _SCRIPT_LOADS}, code)
    runs = _first(_SCRIPT_RUNS, code)
    return Signs(makes, runs, loads, _is_decoding(code.encode("utf-8", "replace"), runs))


def _first(rules: Mapping[str, str], code: str) -> str:
    """The first rule that fits, and where."""
    for what, pattern in rules.items():
        match = re.search(pattern, code)
        if match is not None:
            return f"line {code.count(chr(10), 0, match.start()) + 1}: {what}"
    return ""


def holds_code(content: bytes) -> bool:
    """Whether decoding and decompressing, some layers deep, comes upon code or upon what could hold some."""
    seen, layer = {content}, [content]
    for _ in range(_LAYERS):
        layer = [data for text in layer for data in _opened(text) if data not in seen]
        seen.update(layer)
        if any(_is_code(data) for data in layer):
            return True
    return False


def _is_code(data: bytes) -> bool:
    if len(data) < 40:
        return False
    if is_sealed(data):
        return True
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    is_text = sum(letter.isprintable() or letter.isspace() for letter in text) > 0.95 * len(text)
    if not is_text:
        return False
    words = set(_WORDS.findall(text))
    return len(words) > 1 and (is_python(data, calls=False) or may_be_javascript(data, calls=False))


def _opened(data: bytes) -> Iterator[bytes]:
    if _PACKED.fullmatch(data):
        for decode in _DECODERS:
            try:
                yield decode(data)[:_MAX_BYTES]
            except (ValueError, binascii.Error):
                continue
    for make in _DECOMPRESSORS:
        try:
            yield make().decompress(data, _MAX_BYTES)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            continue


def _turned(data: bytes) -> bytes:
    return data[::-1]


def _plain64(data: bytes) -> bytes:
    text = bytes(data.translate(None, b" \t\r\n")).replace(b"-", b"+").replace(b"_", b"/")
    return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)


_DECODERS: tuple[Callable[[bytes], bytes], ...] = (
    _plain64,
    base64.b85decode,
    base64.a85decode,
    base64.b32decode,
    lambda data: bytes.fromhex(data.decode("ascii")),
    lambda data: codecs.decode(data.decode("ascii"), "rot13").encode(),
    _turned,
)
_DECOMPRESSORS: tuple[Callable[[], zlib._Decompress | bz2.BZ2Decompressor | lzma.LZMADecompressor], ...] = (
    lambda: zlib.decompressobj(zlib.MAX_WBITS | 32),
    lambda: zlib.decompressobj(-zlib.MAX_WBITS),
    bz2.BZ2Decompressor,
    lambda: lzma.LZMADecompressor(memlimit=_MEMORY),
)


def unpacking(kinds: Mapping[str, str], contents: Mapping[str, bytes]) -> dict[str, str]:
    """Which files make code, and how; what one file carries another may run."""
    readers = {"python": read_python, "javascript": read_javascript}
    signs = {path: readers[kind](contents[path]) for path, kind in kinds.items() if kind in readers}
    found = {path: one.makes for path, one in signs.items() if one.makes}
    found |= {
        path: "it comes apart into code"
        for path, content in contents.items()
        if path not in signs and holds_code(content)
    }
    if any(one.is_carrying for one in signs.values()):
        found = {path: one.runs for path, one in signs.items() if one.runs} | found
    if any(_OPAQUE.search(content) for content in contents.values()):
        loading = {path: one.loads for path, one in signs.items() if one.loads}
        found = {path: f"{why}, beside a long constant that nobody can read" for path, why in loading.items()} | found
    return found


def main(order: str) -> None:
    kinds: dict[str, str] = json.loads(Path(order).read_bytes())
    contents = {path: Path(path).read_bytes() for path in kinds}
    print(json.dumps(unpacking(kinds, contents)))  # noqa: T201  its answer


if __name__ == "__main__":
    main(sys.argv[1])
