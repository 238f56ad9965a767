"""Domain values to a supervisor's orders, and its answers back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from proctor.domain.errors import SandboxError, UserError
from proctor.domain.sandbox import (
    Case,
    CaseResult,
    CaseStatus,
    Check,
    Ending,
    Program,
    SandboxLimits,
    SandboxResult,
    Spent,
    Verdict,
)

_NODE = "node"


def _encoded(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(data).decode() for name, data in files.items()}


def check_order(check: Check, limits: SandboxLimits) -> dict[str, Any]:
    return {
        "op": "check",
        "limits": asdict(limits),
        "candidate": {"submission": check.submission, "module": check.module, "files": _encoded(check.files)},
        "judge": {
            "cases": [asdict(case) for case in check.cases],
            "prelude": check.prelude,
            "remote": dict(check.remote),
            "module": check.module,
            "is_fail_fast": check.is_fail_fast,
            "is_live": check.is_live,
            "is_closed": check.is_closed,
            "collect": check.is_collecting,
        },
    }


def program_order(program: Program, limits: SandboxLimits, python: str) -> dict[str, Any]:
    payload: dict[str, Any] = {"files": _encoded(program.files)}
    if program.language == "python":
        payload |= {"mode": "script", "source": program.source, "arguments": list(program.arguments)}
    elif program.language == "javascript":
        payload["files"] |= _encoded({"main.js": program.source.encode()})
        payload |= {"mode": "exec", "command": [_NODE, "main.js", *program.arguments]}
    elif program.language == "python-cold":
        payload["files"] |= _encoded({"main.py": program.source.encode()})
        payload |= {"mode": "exec", "command": [python, "-s", "-S", "main.py", *program.arguments]}
    else:
        raise UserError(f"No language {program.language!r} in the sandbox; there are python and javascript.")
    return {
        "op": "run",
        "limits": asdict(limits),
        "payload": payload,
        "stdin": base64.b64encode(program.stdin).decode(),
        "loopback": program.loopback,
        "collect": program.collect,
        "is_address_space_limited": program.language != "javascript",  # V8 reserves far more than it uses
    }


def execution_of(answer: Mapping[str, Any], record: Mapping[str, Any]) -> SandboxResult:
    return SandboxResult(
        ending=Ending(answer["ending"]),
        exit_code=answer["exit_code"],
        signal=answer["signal"],
        stdout=base64.b64decode(answer["stdout"]),
        stderr=base64.b64decode(answer["stderr"]),
        spent=Spent(**answer["spent"]),
        violations=answer["violations"],
        files={name: base64.b64decode(data) for name, data in answer.get("files", {}).items()},
        refused_files=answer.get("refused_files", {}),
        sandbox=record,
    )


def _case_results(reports: list[Mapping[str, Any]], cases: tuple[Case, ...]) -> tuple[CaseResult, ...]:
    """What the judge reported, then the cases it did not come to."""
    done = [CaseResult(report["case"], CaseStatus(report["status"]), report["message"]) for report in reports]
    reported = {result.name for result in done}
    return (*done, *(CaseResult(case.name, CaseStatus.NOT_RUN) for case in cases if case.name not in reported))


def verdict_of(answer: Mapping[str, Any], check: Check, record: Mapping[str, Any]) -> Verdict:
    final = answer["final"]
    if "unjudgeable" in final:
        raise SandboxError(f"The tests cannot judge across processes: {final['unjudgeable']}.")
    ending = Ending(answer["ending"])
    results = _case_results(answer["cases"], check.cases)
    first = next((result.message for result in results if result.status in (CaseStatus.FAILED, CaseStatus.ERROR)), "")
    message = (
        final.get("load")
        or final.get("lost")
        or ("the judge did not survive the submission's answers" if answer["judge_is_lost"] else "")
    )
    return Verdict(
        passed=answer["passed"],
        ending=ending,
        cases=results,
        message="" if answer["passed"] else (message or first or ending),
        spent=Spent(**answer["spent"]),
        violations=answer["violations"],
        sandbox=record,
        is_forgeable=check.is_live,
    )
