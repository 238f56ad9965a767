"""The judging side: runs trusted tests against a submission in another process, and alone can report a verdict."""

from __future__ import annotations

import builtins
import linecache
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any

from . import collecting
from .codec import dumps
from .frames import Channel
from .names import TestNames
from .remote import RemoteModule, SubmissionLink, SubmissionLostError, UnjudgeableError
from .showing import describe_error, plain_text, show_value

_TEXT = 2_000


class CaseRunner:
    """Runs the cases in order and reports each as it ends."""

    def __init__(self, report: Channel, link: SubmissionLink, payload: dict[str, Any]) -> None:
        self._report = report
        self._link = link
        self._payload = payload
        self._tests = 0
        self._seen: set[int] = set()
        self._space: dict[str, Any] = {"__name__": "__judge__", "__builtins__": builtins}

    def run(self) -> bool:
        """True when every case ran to its end and the submission answered throughout."""
        payload = self._payload
        prelude = _compiled(payload["prelude"], "<prelude>")
        cases = [(case["name"], _compiled(case["source"], f"<{case['name']}>")) for case in payload["cases"]]
        self._link.wait_until_loaded()
        if payload["collect"]:
            sys.modules["pytest"] = collecting.small_pytest()
        sources = [payload["prelude"], *(case["source"] for case in payload["cases"])]
        names = TestNames(() if payload["is_closed"] else sources, payload["remote"])
        sys.modules[payload["module"]] = RemoteModule(payload["module"], self._link, names.is_trusted)
        exec(prelude, self._space)  # noqa: S102  trusted: it comes with the benchmark
        self._space.update(names.modules(self._space))
        self._fetch_names([code for _, code in cases])
        passed = True
        for name, code in cases:
            passed = self._run_case(name, lambda code=code: exec(code, self._space)) and passed  # type: ignore[misc]  # noqa: S102
            if payload["collect"]:
                passed = self._run_collected() and passed
            if not passed and payload["is_fail_fast"]:
                break
        if payload["collect"] and not self._tests and passed:
            raise UnjudgeableError("the test files define no test")
        return passed and not self._link.is_lost

    def _run_collected(self) -> bool:
        passed = True
        for name, call in collecting.collected(self._space, self._seen):
            self._tests += 1
            passed = self._run_case(name, call) and passed
        return passed

    def _fetch_names(self, codes: list[types.CodeType]) -> None:
        """Names the tests use and nobody trusted defines come from the submission."""
        remote: dict[str, str] = self._payload["remote"]
        is_closed: bool = self._payload["is_closed"]
        wanted = () if is_closed else {name for code in codes for name in _global_names(code)}
        missing = [name for name in wanted if name not in self._space and not hasattr(builtins, name)]
        found = self._link.look_up(sorted({*missing, *remote.values()}))
        self._space.update({name: found[name] for name in missing if name in found})
        for name, source in remote.items():
            self._space.pop(name, None)
            if source in found:
                self._space[name] = found[source]

    def _run_case(self, name: str, call: Callable[[], Any]) -> bool:
        self._link.last = None
        status, message = "passed", ""
        try:
            call()
        except UnjudgeableError:
            raise
        except BaseException as error:
            status = "failed" if isinstance(error, AssertionError) else "error"
            message = self._explain(error)
            if isinstance(error, SubmissionLostError):
                self._report.send(dumps({"case": name, "status": status, "message": message}))
                raise
        if self._link.is_lost:
            raise SubmissionLostError("the submission's process ended, and a test hid that")
        self._report.send(dumps({"case": name, "status": status, "message": message}))
        return status == "passed"

    def _explain(self, error: BaseException) -> str:
        """Which line failed, with what, after which answer of the submission."""
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<")]
        line = f"{frames[-1].line.strip()}" if frames and frames[-1].line else ""
        text = "" if isinstance(error, AssertionError) and not error.args else describe_error(error)
        parts = [line[:500], text[:500], *getattr(error, "__notes__", [])]
        if self._link.last and len(self._link.last) == 3:
            args, kwargs, value = self._link.last
            shown = ", ".join([*map(show_value, args), *(f"{key}={show_value(kwargs[key])}" for key in kwargs)])
            parts.append(f"the submission's last answer: ({shown}) -> {show_value(value)}")
        return plain_text("; ".join(part for part in parts if part))[:_TEXT]


def _compiled(source: str, name: str) -> types.CodeType:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    return compile(source, name, "exec", dont_inherit=True)


def _global_names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)


def main(report: Channel, channel: Channel, payload: dict[str, Any]) -> int:
    """0 means every test passed; the supervisor believes that and the final report together, never one alone."""
    report.send(dumps({"ready": True}))
    link = SubmissionLink(channel, is_live=payload["is_live"])
    try:
        passed = CaseRunner(report, link, payload).run()
    except SubmissionLostError as error:
        report.send(dumps({"lost": plain_text(str(error))}))
        return 3
    except UnjudgeableError as error:
        report.send(dumps({"unjudgeable": plain_text(str(error))}))
        return 4
    except BaseException as error:  # noqa: BLE001  the submission failed to load, or the tests did
        return _report_failure(report, error, is_answered=link.is_used)
    report.send(dumps({"done": passed}))
    return 0 if passed else 1


def _report_failure(report: Channel, error: BaseException, *, is_answered: bool) -> int:
    """Tests that break before they have asked the submission anything break for all; later it may be its doing."""
    text = "; ".join([describe_error(error)[:_TEXT], *getattr(error, "__notes__", [])])
    if is_answered:
        report.send(dumps({"load": plain_text(text)}))
        return 1
    report.send(dumps({"unjudgeable": f"the tests cannot be run: {plain_text(text)}"}))
    return 4
