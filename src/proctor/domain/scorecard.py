"""What was measured of a program, and the marks that follow from it. Marks are always computed from the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, field

from proctor.domain.message import Json

PHASES = (
    "validate",
    "build",
    "start",
    "readiness",
    "functional",
    "property",
    "load",
    "profile",
    "security",
    "quality",
    "stop",
    "clean up",
)
GRADES = (("gold", 0.9), ("silver", 0.8), ("bronze", 0.7))


class PhaseStatus(StrEnum):
    DONE = "done"
    FAILED = "failed"
    """The program's own doing: it did not build, start or answer."""
    NOT_MEASURED = "not measured"
    """Something it depends on did not happen, or a tool is not there; the log says which."""


class Phase(Struct, frozen=True):
    name: str
    status: PhaseStatus
    started_at: float
    """Seconds since the epoch."""
    seconds: float
    log: str = ""
    evidence: Mapping[str, Json] = field(default_factory=dict)
    artifacts: Mapping[str, str] = field(default_factory=dict)
    """File name -> the digest it is kept under."""


class CheckStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    NOT_RUN = "not run"


class CheckResult(Struct, frozen=True):
    """One test function, over all its parameters and examples."""

    name: str
    kind: str
    status: CheckStatus
    message: str = ""
    seconds: float = 0.0
    is_generated: bool = False
    """Brought along by the program: shown, never counted."""


class RequirementStatus(StrEnum):
    VERIFIED = "verified"
    FAILED = "failed"
    UNTESTED = "untested"


class Evidence(Struct, frozen=True):
    """Everything the marks follow from; kept whole, so that they can be computed again."""

    problem: str
    problem_digest: str
    runner: Mapping[str, Json]
    phases: tuple[Phase, ...]
    checks: tuple[CheckResult, ...]
    measures: Mapping[str, float]
    """By name, with the unit in it: throughput_rps, p95_ms, error_rate, peak_memory_mib, cpu_seconds, start_seconds."""
    gold_measures: Mapping[str, float]
    """The gold solution's, taken in the same session on the same machine."""
    findings: Mapping[str, Json]
    """Of each security and quality tool: its version, what it found per file, or why it did not run."""
    program: str | None = None
    """The digest of a zip of the program's files."""


class RequirementMark(Struct, frozen=True):
    id: str
    level: str
    text: str
    status: RequirementStatus
    checks: tuple[CheckResult, ...]


class DimensionMark(Struct, frozen=True):
    """`value` is None when it could not be measured; `reason` then says why."""

    name: str
    value: float | None
    weight: float
    reason: str = ""
    details: Mapping[str, Json] = field(default_factory=dict)


class Scorecard(Struct, frozen=True):
    evidence: Evidence
    requirements: tuple[RequirementMark, ...]
    dimensions: tuple[DimensionMark, ...]
    total: float | None
    """Of the weights that were measured, not scaled up: the most it can be is `covers`."""
    covers: float
    """The sum of the weights of the dimensions that were measured."""
    passed: bool
    reason: str
    """Why it did not pass; empty when it did."""
    grade: str | None
    """gold, silver or bronze; None below, and where a dimension was not measured."""
