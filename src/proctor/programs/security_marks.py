"""The security mark: 1, less what each finding takes. Written out in docs/reference/scorecard.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.domain.scorecard import DimensionMark, Evidence

SEVERITY: Mapping[str, float] = {"CRITICAL": 0.5, "HIGH": 0.4, "MEDIUM": 0.15, "LOW": 0.02}
CONFIDENCE: Mapping[str, float] = {"HIGH": 1.0, "MEDIUM": 0.7, "LOW": 0.3}
MAX_LOW = 0.1
"""All findings of low severity together take no more than this."""
VULNERABLE = 0.3
"""A dependency with a known vulnerability, each."""
VIOLATION = 0.2
"""A kind of forbidden system call, an address outside, or a file outside to be changed, that was tried, each."""
SCANNERS = frozenset({"bandit", "dangers"})
"""Those that read the source, each its own language: without the ones that apply, security is not measured."""
BESIDES = ("pip-audit", "npm-audit", "place")
"""What is looked at besides the source, where it applies; Safety and Trivy are second opinions."""
TOOLS = ("bandit", "dangers", "pip-audit", "safety", "npm-audit", "trivy", "place")


def _by_severity(tool: Mapping[str, Any]) -> float:
    low = rest = 0.0
    for one in tool["findings"]:
        taken = SEVERITY.get(one["severity"], 0.0) * CONFIDENCE.get(one.get("confidence", "HIGH"), 1.0)
        if one["severity"] == "LOW":
            low += taken
        else:
            rest += taken
    return rest + min(low, MAX_LOW)


def _vulnerabilities(tool: Mapping[str, Any]) -> float:
    return VULNERABLE * float(tool["count"])


def _beyond(second: Mapping[str, Any], first: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a second auditor found in packages that the first calls clean: no vulnerability takes its part twice."""
    known = {_package(one) for one in first.get("findings", ())}
    findings = [one for one in second.get("findings", ()) if _package(one) not in known]
    return {**second, "count": len(findings), "findings": findings}


def _package(finding: Mapping[str, Any]) -> str:
    return str(finding["message"]).partition(" ")[0].lower().replace("_", "-")


def _workspace(tool: Mapping[str, Any]) -> float:
    return VIOLATION * (len(tool["violations"]) + len(tool.get("egress", ())) + len(tool.get("writes") or ()))


_TAKEN = {
    "bandit": _by_severity,
    "dangers": _by_severity,
    "pip-audit": _vulnerabilities,
    "safety": _vulnerabilities,
    "npm-audit": _vulnerabilities,
    "trivy": _by_severity,
    "place": _workspace,
}


def security_mark(evidence: Evidence, weight: float) -> DimensionMark:
    """What the tools that ran found, taken from 1; one that did not run is named.

    The source, the packages (if any) and what its workspace saw count the same: what should have been
    looked at and was not takes its part of the weight along. Of packages that were looked up in part, that part counts.
    """
    asked = {name: tool for name in TOOLS if isinstance(tool := evidence.findings.get(name), Mapping)}
    if "safety" in asked:
        asked["safety"] = _beyond(asked["safety"], asked.get("pip-audit", {}))
    taken = {name: round(_TAKEN[name](tool), 6) for name, tool in asked.items() if tool["status"] == "ran"}
    absent = [name for name, tool in asked.items() if tool["status"] == "not run"]
    reasons = [f"not run: {', '.join(absent)}"] if absent else []
    partial = {name: tool for name, tool in asked.items() if name in taken and "skipped" in tool}
    reasons += [f"{name} skipped {', '.join(tool['skipped']) or 'packages'}" for name, tool in partial.items()]
    workspace = asked.get("place", {})
    if workspace.get("status") == "ran" and workspace.get("writes") is None:
        reasons.append("not seen: attempts to write outside")
    reason = "; ".join(reasons)
    if not taken.keys() & SCANNERS or SCANNERS.intersection(absent):
        return DimensionMark("security", None, weight, f"the source was not scanned; {reason}".removesuffix("; "))
    parts = 1 + sum(name in taken or name in absent for name in BESIDES)
    missing = sum(name in absent for name in BESIDES) + sum(1 - tool["share"] for tool in partial.values())
    measured = weight * (parts - missing) / parts
    return DimensionMark("security", max(0.0, 1.0 - sum(taken.values())), measured, reason, {"taken": taken})
