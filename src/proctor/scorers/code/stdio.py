"""Programs that read standard input and print: APPS, LiveCodeBench and contest problems of that kind."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from proctor.domain.errors import SandboxError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Ending, Program, SandboxResult
from proctor.domain.score import Score
from proctor.domain.scorer import Control, traits
from proctor.scorers.code.checkers import CHECKERS, floats
from proctor.scorers.code.extraction import extract_program
from proctor.scorers.code.judged import Sandboxed, refusal
from proctor.scorers.options import build, version_of

NAME = "stdio"
REVISION = "2"
_SHOWN = 300
_MAX_INFLATED = 64 << 20
_LISTS = ("tests", "public_test_cases", "private_test_cases")
CheckerName = Literal["case_insensitive", "exact", "floats", "lines", "tokens", "unordered_lines", "unordered_tokens"]


@traits(has_votes=False)
def create(**options: Json) -> StandardIO:
    return build(StandardIO, NAME, options)


@dataclass(frozen=True, slots=True)
class IoTest:
    stdin: str
    expected: str


def _text(value: Any) -> str:
    """APPS writes some inputs as lists of lines."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _inflated(text: str) -> Any:
    """LiveCodeBench's private tests: JSON, compressed, in base64. Pickles are refused: they could run code."""
    stream = zlib.decompressobj()
    data = stream.decompress(base64.b64decode(text), _MAX_INFLATED)
    if stream.unconsumed_tail:
        raise ValueError(f"more than {_MAX_INFLATED:,} bytes of tests")
    return json.loads(data)


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return json.loads(value) if value.lstrip().startswith(("{", "[")) else _inflated(value)


def io_tests(metadata: Mapping[str, Any]) -> list[IoTest]:
    """The tests in any of the usual shapes: APPS' input_output, LiveCodeBench's test cases, or a plain list."""
    found: list[IoTest] = []
    if metadata.get("input_output"):
        pairs = _parsed(metadata["input_output"])
        found += [IoTest(_text(i), _text(o)) for i, o in zip(pairs["inputs"], pairs["outputs"], strict=True)]
    for name in _LISTS:
        for case in _parsed(metadata[name]) if metadata.get(name) else ():
            found.append(IoTest(_text(case.get("input", "")), _text(case.get("output", case.get("expected", "")))))
    return found


@dataclass(frozen=True, kw_only=True)
class StandardIO(Sandboxed):
    """1 when the program prints the expected text for every input; expected texts never enter the sandbox."""

    checker: CheckerName = "lines"
    tolerance: float = 1e-6
    """For the checker `floats`."""
    language: Literal["python", "javascript"] = "python"
    partial: bool = False
    """Give the share of inputs that came out right, and not all or nothing."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        """Only whether there are tests: reading them all would hold up the first request."""
        if any(sample.metadata.get(name) for name in ("input_output", *_LISTS)):
            return None
        return f"its metadata has no tests: input_output, {' or '.join(_LISTS)}"

    def control(self, sample: Sample) -> Control:
        """The sample's target, where it is code: a reference solution; else a program that does nothing."""
        target = Response(next(iter(sample.targets), ""))
        if refusal(NAME, extract_program(target.text, self.language)) is None:
            return Control(target, "the target")
        idle = "pass" if self.language == "python" else "0;"
        return Control(Response(f"```{self.language}\n{idle}\n```"), "a program that does nothing")

    async def score(self, sample: Sample, response: Response) -> Score:
        try:
            tests = io_tests(sample.metadata)
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error) as error:
            raise ScorerError(f"The tests of the sample {sample.id} cannot be read: {error}") from error
        if not tests:
            raise ScorerError(
                f"The sample {sample.id} has no tests: input_output, public_test_cases or tests in its metadata."
            )
        found = extract_program(response.text, self.language)
        refused = refusal(NAME, found)
        if refused is not None:
            return refused
        try:
            done = await self._run_all(found.code, tests)
        except SandboxError as error:
            raise ScorerError(str(error)) from error
        return self._score(found.code, tests, done, found.how)

    async def _run_all(self, code: str, tests: list[IoTest]) -> list[SandboxResult]:
        """Every input; without partial marks the first wrong one decides, and the rest are not run."""
        sandbox, done = self._given_sandbox(), []
        width = 1 if not self.partial else len(tests)
        for start in range(0, len(tests), width):
            batch = tests[start : start + width]
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(sandbox.run(self._program(code, test), self.limits)) for test in batch]
            done += [task.result() for task in tasks]
            if not self.partial and not self._is_right(done[-1], batch[-1]):
                break
        return done

    def _program(self, code: str, test: IoTest) -> Program:
        return Program(code, language=self.language, stdin=test.stdin.encode())

    def _is_right(self, execution: SandboxResult, test: IoTest) -> bool:
        if not execution.succeeded:
            return False
        printed = execution.stdout.decode(errors="replace").replace("\r\n", "\n")
        if self.checker == "floats":
            return floats(printed, test.expected, self.tolerance)
        return CHECKERS[self.checker](printed, test.expected)

    def _score(self, code: str, tests: list[IoTest], done: list[SandboxResult], how: str) -> Score:
        right = [self._is_right(execution, test) for execution, test in zip(done, tests, strict=False)]
        wrong = [
            _evidence(number, tests[number], done[number]) for number, is_right in enumerate(right) if not is_right
        ]
        value = sum(right) / len(tests) if self.partial else float(all(right) and len(right) == len(tests))
        reason = (
            f"all {len(tests)} inputs came out right"
            if not wrong
            else f"input {wrong[0]['input']}: {wrong[0]['problem']}"
        )
        details = {
            "extraction": how,
            "tests": len(tests),
            "tests_passed": sum(right),
            "tests_run": len(done),
            "not_passed": wrong[:20],
            "is_forgeable": self.is_forgeable,
            "ending": str(done[-1].ending) if done else "",
            "sandbox": dict(done[-1].sandbox) if done else {},
        }
        return Score(NAME, value, answer=code, reason=reason, details=details)


def _evidence(number: int, test: IoTest, execution: SandboxResult) -> dict[str, Any]:
    if execution.ending is not Ending.EXITED:
        problem = str(execution.ending)
    elif execution.exit_code:
        problem = f"exit code {execution.exit_code}"
    else:
        problem = "printed something else"
    return {
        "input": number + 1,
        "problem": problem,
        "stdin": test.stdin[:_SHOWN],
        "expected": test.expected[:_SHOWN],
        "stdout": execution.stdout[:_SHOWN].decode(errors="replace"),
        "stderr": execution.stderr[-_SHOWN:].decode(errors="replace"),
        "violations": dict(execution.violations),
    }
