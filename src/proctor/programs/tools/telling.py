"""Tells code from everything else by what is in a file; a script of its own, because a parser can be made to crash.

Python loads a file of any name, and Node takes whatever it does not know for JavaScript: a name says nothing.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import warnings
import zipfile
from pathlib import Path

_STATEMENTS = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.comprehension),
    *(ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match, ast.Raise, ast.Assert),
)
_DOING = frozenset({"exec", "eval", "compile", "open", "print", "input", "getattr", "setattr", "__import__"})
_PYTHON = re.compile(rb"\(|\b(?:import|def|class|lambda|for|while|if|with|try|match|raise|assert)\b|coding")
_TEXT = re.compile(r""""(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""")
_WORDS = re.compile(
    r"""\bfunction\b\s*\*?\s*[\w$]*\s*\(|=>|\brequire\s*\(|\bimport\s*["'({*]|\bimport\b[^\n]*\bfrom\s*["']|\bexport\s"""
    r"""|\bclass\b[^\n{]*\{|\bexports\b|\b(?:const|let|var)\s+[\w$\[{]|\b(?:for|while|if|switch|with)\s*\("""
    r"""|\b(?:try|do)\s*\{|\bnew\s+[\w$]|\b(?:eval|Function)\s*[(`]"""
)
_CALL = re.compile(r"[\w$)\]]\s*\??\.\s*[\w$]+\s*\(")
_SEALS = (
    *((0, b"\x7fELF"), (0, b"\0asm"), (2, b"\xde\xc0"), (0, b"!<arch>\n"), (257, b"ustar"), (0, b"PK\x03\x04")),
    *((0, b"\x1f\x8b"), (4, b"1AY&SY"), (0, b"\xfd7zXZ\0"), (0, b"\x28\xb5\x2f\xfd"), (0, b"7z\xbc\xaf")),
)
"""What stands where: in objects, WebAssembly, V8's code, ar, tar, zip; in gzip, bzip2, xz, zstd, 7z."""
_COMPILED = re.compile(rb".[\x0c-\x0f]\r\n", re.DOTALL)
"""How what Python has compiled begins, since 3.0."""


def is_python(content: bytes, *, calls: bool) -> bool:
    """It parses and does something; with `calls`, calling is enough, which much JavaScript does in the same words."""
    if _PYTHON.search(content) is None:  # large tables are not parsed: it takes a hundred times their size
        return False
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(content)
    except (RecursionError, MemoryError):
        return True  # what runs it may have more room than this
    except (SyntaxError, ValueError, LookupError):
        return False
    return any(isinstance(node, _STATEMENTS) or (calls and _does(node)) for node in ast.walk(tree))


def _does(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return isinstance(node.func, ast.Attribute) or (isinstance(node.func, ast.Name) and node.func.id in _DOING)


def may_be_javascript(content: bytes, *, calls: bool) -> bool:
    """Words of JavaScript stand in it outside of texts; whether it is any, only a parser knows."""
    text = content.decode("utf-8", "replace").removeprefix("\ufeff")
    start = text.lstrip()[:4]
    if start.startswith("<") and start != "<!--":  # a page or a picture, which a parser that knows JSX may take
        return False
    code = _TEXT.sub('""', text)
    if "/" in code or "`" in code:  # where a text begins cannot be told from a pattern, a comment or a template
        code = text
    return _WORDS.search(code) is not None or (calls and _CALL.search(code) is not None)


def is_sealed(content: bytes) -> bool:
    """It could hold code that no tool reads: a compiled program, or an archive, even one behind a picture."""
    if any(content.startswith(seal, at) for at, seal in _SEALS) or _COMPILED.match(content):
        return True
    return zipfile.is_zipfile(io.BytesIO(content))


def told(path: str, content: bytes) -> list[str]:
    """What a file is besides what it is called."""
    is_script, is_module = path.endswith((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")), path.endswith(".py")
    kinds = {
        "python": not is_module and is_python(content, calls=not is_script),
        "javascript": not path.endswith((".js", ".mjs", ".cjs")) and may_be_javascript(content, calls=not is_module),
        "sealed": is_sealed(content),
    }
    return [kind for kind, is_it in kinds.items() if is_it]


def main(*paths: str) -> None:
    print(json.dumps({path: told(path, Path(path).read_bytes()) for path in paths}))  # noqa: T201  its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
