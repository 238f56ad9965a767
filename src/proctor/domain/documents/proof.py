"""Whether a problem's checks tell a right program from a wrong one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from proctor.domain.documents.document import Document


class LintRemark(Document, frozen=True):
    """An error keeps a problem from counting, a warning does not."""

    severity: Literal["error", "warning"]
    where: str
    rule: str
    message: str
    requirement: str | None


class LintResult(Document, frozen=True):
    findings: Sequence[LintRemark]
    patterns: Mapping[str, str | None]
    """The EARS pattern of each requirement's sentence."""
    untested: Sequence[str]
    is_clean: bool | None = None
    """Where the wording alone was checked."""


class ProbeResult(Document, frozen=True):
    """One program marked for the proof; `fault` says why it did not fare as it should, and is empty where it did."""

    name: str
    repeat: int
    total: float | None
    covers: float
    passed: bool
    failed: Sequence[str]
    fault: str
    seconds: float
    not_measured: Mapping[str, str]


class ProblemCheck(Document, frozen=True):
    problem: str
    digest: str
    holds: bool
    seconds: float
    faults: Sequence[str]
    flaky: Mapping[str, Mapping[str, Sequence[str]]]
    """Checks that went differently for the same program: by program, then by check."""
    lint: LintResult
    probes: Sequence[ProbeResult]
