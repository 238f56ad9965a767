"""What a scan says: what it found, or why nothing was measured."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class ScanResult:
    findings: tuple[str, ...] = ()
    looked_at: str = ""
    not_measured: str | None = None
    """Why it could not be looked: then nothing is said about it, least of all that it is well."""


def find_tool(name: str) -> str | None:
    """The program of this virtual environment, or of the machine."""
    beside = Path(sysconfig.get_path("scripts")) / name
    return str(beside) if beside.exists() else shutil.which(name)


def call(
    command: Sequence[str | Path], *, seconds: float = 300, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, errors="replace", timeout=seconds, check=False
    )


def missing(tool: str) -> ScanResult:
    return ScanResult(not_measured=f"{tool} is not installed: scripts/install dev")
