"""Dangerous calls in JavaScript, by reading; run as a script of its own, because the text may be anything.

Bandit reads Python only, and what reads JavaScript needs a registry of packages or rules. This looks for the same kinds
of danger, weighed as Bandit weighs them; like Bandit, it finds what is written down and not what is put together later.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

_COMMENT_OR_TEXT = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.DOTALL
)
# `exec` is a shell's word only where it belongs to this module: patterns have a method of that name too.
_PROCESSES = r"""["'](?:node:)?child_process["']"""
_NAMED = re.compile(rf"(\w+)\s*=\s*require\s*\(\s*{_PROCESSES}|import\s+(?:\*\s*as\s+)?(\w+)\s+from\s+{_PROCESSES}")
_SHELL = rf"(?<![\w$.])exec\s*\(|\bexecSync\s*\(|\bshell\s*:\s*true\b|{_PROCESSES}\s*\)\s*\.\s*exec\b"
_CIPHER = r"\bcreateCipher\s*\(|\bcreateCipheriv\s*\(\s*[\"'`](?i:des|rc[24]|bf|aes-\d+-ecb)"
_WRITTEN_DOWN = r"(?i)\b(?:password|passwd|secret)\s*[:=]\s*[\"'`][^\"'`\n]"
_ANYBODY = r"\brejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED"
RULES: dict[str, tuple[str, str, str, str]] = {
    "eval": ("MEDIUM", "HIGH", "text is run as code", r"(?<![\w$.])eval\s*\(|globalThis\s*\.\s*eval\b"),
    "function": ("MEDIUM", "HIGH", "text is made a function", r"(?<![\w$.])Function\s*\("),
    "vm": ("MEDIUM", "HIGH", "text is run as code", r"\brunIn(?:New|This)?Context\s*\(|\bvm\s*\.\s*(?:Script|compile)"),
    "timer": ("MEDIUM", "HIGH", "text is run as code", r"\bset(?:Timeout|Interval)\s*\(\s*[\"'`]"),
    "shell": ("HIGH", "HIGH", "a shell reads this text", _SHELL),
    "load": ("MEDIUM", "MEDIUM", "what is loaded is computed", r"(?<![\w$.])(?:require|import)\s*\(\s*(?![\s\"'`)])"),
    "deserialize": ("MEDIUM", "HIGH", "objects are made from bytes", r"\bv8\s*\.\s*deserialize\s*\("),
    "hash": ("HIGH", "HIGH", "a weak hash", r"\bcreateHash\s*\(\s*[\"'`](?i:md4|md5|sha1|sha-1)[\"'`]"),
    "cipher": ("HIGH", "HIGH", "a weak cipher", _CIPHER),
    "tls": ("HIGH", "HIGH", "any certificate is taken", _ANYBODY),
    "interfaces": ("MEDIUM", "MEDIUM", "it listens everywhere", r"[\"'`]0\.0\.0\.0[\"'`]"),
    "permissions": ("MEDIUM", "HIGH", "everybody may write", r"\bchmod(?:Sync)?\s*\([^)\n]{0,200}?\b0o?\d?77[67]\b"),
    "password": ("LOW", "MEDIUM", "a password in the source", _WRITTEN_DOWN),
    "random": ("LOW", "HIGH", "no randomness for secrets", r"\bMath\s*\.\s*random\s*\("),
}  # fmt: skip
"""What each is called -> its severity, how sure that is, what is said of it, and how it looks."""


def dangers(path: str, text: str) -> list[dict[str, Any]]:
    """Every workspace where a rule fits, comments aside; texts are looked into, because code may stand in them."""
    code = _COMMENT_OR_TEXT.sub(_blank, text)
    names = {name for both in _NAMED.findall(code) for name in both if name}
    called = "".join(rf"|\b{re.escape(name)}\s*\.\s*exec\s*\(" for name in sorted(names))
    return [
        {
            "file": path,
            "line": code.count("\n", 0, match.start()) + 1,
            "code": name,
            "severity": severity,
            "confidence": confidence,
            "message": message,
        }
        for name, (severity, confidence, message, pattern) in RULES.items()
        for match in re.finditer(pattern + called if name == "shell" else pattern, code)
    ]


def _blank(match: re.Match[str]) -> str:
    comment = match["comment"]
    return match.group() if comment is None else "\n" * comment.count("\n") + " "


def main(*paths: str) -> None:
    found = [one for path in paths for one in dangers(path, Path(path).read_text(encoding="utf-8", errors="replace"))]
    print(json.dumps(found))  # noqa: T201  its answer


if __name__ == "__main__":
    main(*sys.argv[1:])
