"""What a problem's program may use, as the limits a workspace knows."""

from __future__ import annotations

from typing import Any

from proctor.domain.problem import Problem
from proctor.domain.sandbox import MIB, SandboxLimits
from proctor.domain.workspace import WorkspaceLimits

DEFAULT_SECONDS = 20.0
OUTPUT_BYTES = 8 * MIB
_ROOM = 256 * MIB  # for whoever works beside the program: interpreters that compile, measure, unpack


def _given(problem: Problem, name: str, default: Any) -> Any:
    return problem.limits.get(name, default)


def seconds_of(problem: Problem) -> float:
    return float(_given(problem, "seconds", DEFAULT_SECONDS))


def command_limits(problem: Problem, wall_seconds: float) -> SandboxLimits:
    """Of one command; its processor time is twice its time by the clock, for programs with threads."""
    disk = int(_given(problem, "disk_bytes", 64 * MIB))
    return SandboxLimits(
        wall_seconds=wall_seconds,
        cpu_seconds=2 * wall_seconds,
        memory_bytes=int(_given(problem, "memory_bytes", 512 * MIB)),
        processes=int(_given(problem, "processes", 32)),
        file_bytes=disk,
        disk_bytes=disk,
        output_bytes=OUTPUT_BYTES,
    )


def place_limits(problem: Problem, seconds: float) -> WorkspaceLimits:
    """Of the whole workspace: several commands of a check may run at once."""
    memory = int(_given(problem, "memory_bytes", 512 * MIB))
    disk = int(_given(problem, "disk_bytes", 64 * MIB))
    return WorkspaceLimits(
        memory_bytes=2 * memory + _ROOM,
        processes=4 * int(_given(problem, "processes", 32)),
        disk_bytes=2 * disk + _ROOM,
        seconds=seconds,
    )
