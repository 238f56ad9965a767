"""Which backends and runners this machine has: one that is missing is skipped by name; one that is here must work."""

from __future__ import annotations

import os
import pwd
import shutil

import pytest

from proctor.sandboxes.firejail import ACCOUNT

TOOLS = {
    "bubblewrap": "bwrap",
    "docker": "docker",
    "firejail": "firejail",
    "kubernetes": "kubectl",
    "nsjail": "nsjail",
    "podman": "podman",
}
"""What must be installed; others are made of the kernel alone, or of nothing."""


def skip_unless_installed(name: str) -> None:
    """Skip where there is nothing to try; whatever goes wrong after this is a failure."""
    if name in TOOLS and shutil.which(TOOLS[name]) is None:
        pytest.skip(f"{name}: {TOOLS[name]} is not installed")
    if name == "firejail" and os.geteuid() == 0 and ACCOUNT not in {entry.pw_name for entry in pwd.getpwall()}:
        pytest.skip(f"{name}: there is no account {ACCOUNT} to run code as")
