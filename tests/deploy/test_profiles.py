"""Profiles that confine the sandbox pool, read by the tools that load them; `make engines` starts one with seccomp."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROFILES = Path(__file__).parents[2] / "deploy" / "profiles"
PLACES = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
NEVER = {"bpf", "keyctl", "kexec_load", "init_module", "io_uring_setup", "perf_event_open", "ptrace", "userfaultfd"}
MADE_OF = {"clone", "unshare", "mount", "pivot_root", "setns"}
pytestmark = pytest.mark.sqlite


def tool(name: str, package: str) -> str:
    found = shutil.which(name, path=PLACES)
    if found is None:
        pytest.skip(f"{name} is not installed: apt-get install {package}")
    return found


def test_the_seccomp_profile_names_what_it_allows_and_nothing_dangerous() -> None:
    profile = json.loads((PROFILES / "proctor-sandbox.seccomp.json").read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    names = [name for rule in profile["syscalls"] for name in rule["names"] if not rule.get("args")]
    assert len(names) == len(set(names))
    assert {rule["action"] for rule in profile["syscalls"]} == {"SCMP_ACT_ALLOW"}
    assert not NEVER & set(names)
    assert set(names) >= MADE_OF
    if HEADER.exists():
        known = set(re.findall(r"#define __NR_(\w+)\s", HEADER.read_text()))
        assert len(set(names) & known) > 250, "names of system calls that this kernel does not know"


def test_the_apparmor_profile_can_be_loaded() -> None:
    command = [tool("apparmor_parser", "apparmor"), "--skip-kernel-load", "--skip-cache"]
    done = subprocess.run(
        [*command, str(PROFILES / "proctor-sandbox.apparmor")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    broken = (PROFILES / "proctor-sandbox.apparmor").read_text().replace("pivot_root,", "pivot_rot,")
    assert subprocess.run([*command], input=broken, capture_output=True, text=True, check=False).returncode != 0


def test_the_selinux_module_compiles(tmp_path: Path) -> None:
    command = [tool("checkmodule", "checkpolicy"), "-M", "-m", "-o", str(tmp_path / "proctor_sandbox.mod")]
    done = subprocess.run([*command, str(PROFILES / "proctor_sandbox.te")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "proctor_sandbox.mod").stat().st_size > 100
