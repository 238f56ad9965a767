"""When systemd would start what a timer starts, from a day on that the test chooses."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

FIRST_DAY = "2026-01-01"


def elapses(timer: Path, count: int) -> list[datetime]:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    read = configparser.ConfigParser(interpolation=None)
    read.read(timer)
    command = [program, "calendar", f"--iterations={count}", f"--base-time={FIRST_DAY}", read["Timer"]["OnCalendar"]]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={"TZ": "UTC", "LC_ALL": "C"}).stdout
    found = re.findall(r"(?:Next elapse|Iter\. #\d+): \w+ (\S+ \S+) UTC", said)
    return [datetime.strptime(one, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) for one in found]
