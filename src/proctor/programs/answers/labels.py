"""Paths that name a block of code: in its info string, its first line, or the line before it."""

from __future__ import annotations

import re

EXTENSIONS = (
    "bash", "bat", "c", "cfg", "cjs", "conf", "cpp", "css", "csv", "env", "go", "h", "html", "in", "ini", "java",
    "js", "json", "jsonl", "jsx", "lock", "md", "mjs", "py", "pyi", "pyx", "rb", "rs", "rst", "sh", "sql", "svg",
    "toml", "ts", "tsv", "tsx", "txt", "xml", "yaml", "yml",
)  # fmt: skip
BARE_NAMES = ("Dockerfile", "LICENSE", "Makefile", "NOTICE", "Procfile", "VERSION", "py.typed", ".gitignore")
NOT_FILES = frozenset({"node.js", "next.js", "vue.js", "react.js", "express.js", "d3.js", "three.js", "json.py"})
_PART = r"[\w.@+~-]+"
_NAME = rf"(?:{_PART}\.(?:{'|'.join(EXTENSIONS)})|{'|'.join(map(re.escape, BARE_NAMES))})"
_PATH = rf"(?:[A-Za-z]:)?[\\/]?(?:{_PART}[\\/])*{_NAME}"
PATH = re.compile(rf"(?<![\w.@+~/\\-]){_PATH}(?![\w/\\-]|\.\w)")
_ATTRIBUTE = re.compile(
    r"""\b(?:title|file_?name|filename|file|path|name|src)\s*[=:]\s*(?:"([^"]+)"|'([^']+)'|([^\s"'},]+))""",
    re.IGNORECASE,
)
_COMMENT = re.compile(
    r"""^\s*(?:\#+|//+|--|;|%|/\*+|<!--|\"\"\"|\'\'\'|@)\s*
    (?:(?:file(?:\s*name|\s*path)?|path|name)\s*[:=]\s*)?(?P<rest>.+?)\s*(?:\*/|-->|\"\"\"|\'\'\')?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)
_DECORATION = re.compile(r"^[\s>*_#`\-•–—=:.()\[\]\"'“”]+(?![\\/])|[\s*_#`\-–—=:.()\[\]\"'“”]+$")
_LEAD = re.compile(
    r"""^(?:(?:step|part)\s*)?(?:\d+\s*[.):/-]\s*)?(?:\d+\s*)?
    (?:(?:(?:new\s+|updated\s+|the\s+)?file(?:\s*name|\s*path)?|path|filename|module)\b(?!\.))?\s*[:=]?\s*""",
    re.IGNORECASE | re.VERBOSE,
)
MAX_LABEL_LENGTH = 300
_REMARK = re.compile(r"\s*(?:\((?:[^()]*)\)|[-–—:]\s.*|\[[^\]]*\])\s*$")
_QUOTED = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|\"([^\"\n]+)\"")
_MENTION_END = re.compile(r"[:.]\s*[*_`]*\s*$")


def whole_path(text: str) -> str | None:
    """The path when the text is nothing else."""
    text = text.strip()
    if len(text) > MAX_LABEL_LENGTH:
        return None
    return text if PATH.fullmatch(text) and text.lower() not in NOT_FILES else None


def path_in_info(info: str) -> str | None:
    """```python main.py, ```python:main.py, ```main.py, ```py title="a b.py", ```js // main.js, ```python (main.py)."""
    info = info[:MAX_LABEL_LENGTH]
    if match := _ATTRIBUTE.search(info):
        return next(group for group in match.groups() if group is not None).strip()
    for token in re.split(r"[\s{}(),;|]+", info.replace("::", ":")):
        for piece in (token.strip("`*\"'#"), token.partition(":")[2].strip("`*\"'"), token.rpartition(":")[2]):
            if found := whole_path(piece):
                return found
    return None


def path_in_comment(line: str) -> str | None:
    """A first line that is a comment and says nothing but a path."""
    match = _COMMENT.match(line) if len(line) <= MAX_LABEL_LENGTH else None
    if match is None:
        return None
    rest = match["rest"].strip().strip("`*=- ")
    return whole_path(rest) or whole_path(_REMARK.sub("", rest))


def path_in_label(line: str) -> str | None:
    """A heading, a bold line or a line of its own that is a path, with numbers, words like 'File:' and remarks off."""
    if len(line) > MAX_LABEL_LENGTH:
        return None
    text = _DECORATION.sub("", line)
    for candidate in (text, _REMARK.sub("", text)):
        plain = _DECORATION.sub("", _LEAD.sub("", _DECORATION.sub("", candidate), count=1))
        if found := whole_path(plain):
            return found
    quoted = _quoted_paths(line)
    is_label = line.lstrip().startswith(("#", "**", "`", "-", "*")) or bool(re.match(r"\s*\d+[.)]", line))
    return quoted[0] if is_label and len(quoted) == 1 else None


def path_in_prose(line: str) -> str | None:
    """A sentence that leads to the block and mentions one path: 'Now create `main.py`:'."""
    if len(line) > MAX_LABEL_LENGTH or not _MENTION_END.search(line):
        return None
    found = _quoted_paths(line) or [path for path in PATH.findall(line) if path.lower() not in NOT_FILES]
    return found[0] if len(set(found)) == 1 else None


def _quoted_paths(line: str) -> list[str]:
    quoted = (next(group for group in groups if group) for groups in _QUOTED.findall(line))
    return list(dict.fromkeys(path for text in quoted if (path := whole_path(text.strip("`*")))))
