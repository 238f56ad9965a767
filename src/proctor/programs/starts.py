"""Starts the gold solution and the program in turn, each with empty data, and takes the time until they are ready."""

from __future__ import annotations

from dataclasses import dataclass, field

from proctor.domain.errors import SandboxError
from proctor.programs.subject import Subject

TIMES = 3
"""How often, where a threshold asks for the time it takes; once where none does."""


@dataclass
class Starts:
    """The seconds of each start, and why the program did not become ready; empty when it did."""

    gold: list[dict[str, float]] = field(default_factory=list)
    program: list[dict[str, float]] = field(default_factory=list)
    failure: str = ""


async def start_in_turn(program: Subject, gold: Subject) -> Starts:
    """Both run afterwards; a gold solution that does not start is nobody's mark."""
    starts = Starts()
    is_asked = any(one.measure == "start_seconds" for one in program.problem.thresholds)
    for _ in range(TIMES if is_asked else 1):
        await program.stop()  # nothing of it runs while the gold solution starts
        problem = await _start_again(gold, starts.gold)
        if problem:
            raise SandboxError(f"The gold solution of {gold.problem.id} does not start: {problem}")
        starts.failure = await _start_again(program, starts.program)
        if starts.failure:
            break
    return starts


async def _start_again(subject: Subject, seconds: list[dict[str, float]]) -> str:
    """Why it is not ready; empty when it is."""
    if subject.hosted is None:
        return ""
    problem = await subject.hosted.restart(is_fresh=True)
    if not problem and subject.hosted.start_seconds is not None:
        seconds.append({"start_seconds": round(subject.hosted.start_seconds, 4)})
    return problem
