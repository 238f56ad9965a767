"""The process that compares expressions: started when first needed, ended when it is too slow, then started anew.

It reads what models wrote, so it gets none of our environment, a folder that is gone, and limits (see `math_worker`).
"""

from __future__ import annotations

import atexit
import threading
from dataclasses import dataclass
from typing import Literal

import orjson

from proctor.domain.errors import ScorerError
from proctor.scorers.reading import encodable
from proctor.worker_process import WorkerDiedError, WorkerNotStartedError, WorkerProcess, WorkerTooSlowError

WALL_FACTOR = 6
"""A busy machine does not make an answer invalid: the seconds are of processor time."""
Problem = Literal["", "target", "answer", "time", "crash"]
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class MathComparison:
    is_equal: bool = False
    answer: str | None = None
    problem: Problem = ""


class MathProcess:
    """One worker, used by one caller at a time."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._worker = WorkerProcess("proctor.scorers.math_worker", ENVIRONMENT, is_folderless=True)

    @property
    def pid(self) -> int | None:
        return self._worker.pid

    def compare(self, answer: str, targets: tuple[str, ...], seconds: float) -> MathComparison:
        """Whether the answer equals a target; what breaks off on an answer is told apart from what does on any."""
        with self._turn:
            said = self._compare(answer, targets, seconds)
            if said.problem in ("time", "crash") and not self._compare(targets[0], targets[:1], seconds).is_equal:
                raise ScorerError(f"The target {targets[0]!r} cannot be compared even with itself within {seconds} s.")
            return said

    def close(self) -> None:
        self._worker.close()

    def _compare(self, answer: str, targets: tuple[str, ...], seconds: float) -> MathComparison:
        question = {"answer": encodable(answer), "targets": [encodable(target) for target in targets]}
        try:
            reply = self._worker.ask(orjson.dumps(question), seconds, seconds * WALL_FACTOR)
        except WorkerDiedError:
            return MathComparison(problem="crash")
        except WorkerTooSlowError:
            return MathComparison(problem="time")
        except WorkerNotStartedError:
            said = "The process that compares expressions did not start; is math-verify installed?"
            raise ScorerError(said) from None
        return MathComparison(**orjson.loads(reply))


_SHARED = MathProcess()
atexit.register(_SHARED.close)
compare = _SHARED.compare
