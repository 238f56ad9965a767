"""Quantities as people write them: `200 ms`, `0.5 gold`, `128 MiB`, `1 %`, `100 requests/s`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from proctor.domain.errors import did_you_mean

GOLD = "gold"
TIME: Mapping[str, float] = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
SIZE: Mapping[str, float] = {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
SHARE: Mapping[str, float] = {"%": 0.01}
RATE: Mapping[str, float] = {"requests/s": 1.0, "requests/min": 1 / 60}
KINDS: Mapping[str, Mapping[str, float]] = {"time": TIME, "size": SIZE, "share": SHARE, "rate": RATE}
MEASURES: Mapping[str, tuple[str, str, bool]] = {
    "throughput": ("rate", "requests/s", False),
    "p50_latency": ("time", "ms", True),
    "p95_latency": ("time", "ms", True),
    "p99_latency": ("time", "ms", True),
    "error_rate": ("share", "%", True),
    "peak_memory": ("size", "MiB", True),
    "cpu_seconds": ("time", "s", True),
    "start_seconds": ("time", "s", True),
    "work_seconds": ("time", "s", True),
}
"""What can be measured: its kind, the unit thresholds are kept in, and whether less is better."""
LOADED = ("throughput", "p50_latency", "p95_latency", "p99_latency", "error_rate")
_QUANTITY = re.compile(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([A-Za-z%/]+)\s*")


def parse_quantity(text: str) -> tuple[float, str]:
    """The number and its unit; ValueError says what is wrong, with the nearest unit."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a number with a unit, such as '200 ms', '128 MiB' or '0.5 gold'")
    units = [GOLD, *(unit for kind in KINDS.values() for unit in kind)]
    unit = match[2]
    if unit not in units:
        raise ValueError(f"there is no unit {unit!r}.{did_you_mean(unit, units)} There are: {', '.join(units)}")
    return float(match[1]), unit


def convert(text: str, kind: str, unit: str) -> float:
    """A quantity of this kind, in this unit."""
    value, given = parse_quantity(text)
    known = KINDS[kind]
    if given not in known:
        raise ValueError(f"{text!r} is not a {kind}: write it in {', '.join(known)}")
    if given == unit:
        return value
    # A sum of roundings: 0.2 s is 200 ms, not 200.00000000000003.
    return float(f"{value * known[given] / known[unit]:.12g}")


def seconds(text: str) -> float:
    return convert(text, "time", "s")


def whole_bytes(text: str) -> int:
    return math.ceil(convert(text, "size", "B"))
