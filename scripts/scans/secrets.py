"""Secrets in files that git knows: keys by their form, private keys, passwords in addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from scans.result import ROOT, ScanResult, call

FORMS = {
    "a private key": re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*\n[A-Za-z0-9+/=\n]{64}"),
    "a key of AWS": re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "a token of GitHub": re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})\b"),
    "a key of Anthropic": re.compile(r"\bsk-ant-[A-Za-z0-9_-]{40,}"),
    "a key of OpenAI": re.compile(r"\bsk-(?:proj-)?[A-Za-z0-9]{40,}\b"),
    "a key of OpenRouter": re.compile(r"\bsk-or-v1-[0-9a-f]{64}\b"),
    "a key of Google": re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b"),
    "a token of Hugging Face": re.compile(r"\bhf_[A-Za-z0-9]{34}\b"),
    "a token of Slack": re.compile(r"\bxox[baprs]-[0-9]{6,}-[A-Za-z0-9-]{20,}"),
    "a token of npm or PyPI": re.compile(r"\b(?:npm_[A-Za-z0-9]{36}|pypi-AgEIcHlwaS[A-Za-z0-9_-]{50,})"),
    "a key of Proctor": re.compile(r"\bpk_[A-Za-z0-9_-]{40,}\b"),
    "a password in an address": re.compile(
        r"\b(?:postgresql|rediss?|amqp|mongodb)://[^:/\s]*:(?=[^@/\s{$<%]*\d)[A-Za-z0-9+/_-]{24,}@(?!127\.0\.0\.1|localhost)"
    ),
}
MAX_BYTES = 2_000_000


def findings_in(paths: Iterable[Path], root: Path = ROOT) -> list[str]:
    """Where, and what it looks like; never the secret itself."""
    found = []
    for path in paths:
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            continue
        text = path.read_bytes().decode("utf-8", "ignore")
        for kind, form in FORMS.items():
            for match in form.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{path.relative_to(root)}:{line}: looks like {kind}")
    return found


def scan_secrets() -> ScanResult:
    done = call(["git", "ls-files", "-z"])
    if done.returncode:
        return ScanResult(not_measured="git cannot say which files belong to the project")
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return ScanResult(tuple(findings_in(paths)), f"{len(paths):,} files")
