"""Runs in its own process: reads (scorer, sample, response), writes the score or the error, until its input ends."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from typing import BinaryIO

from proctor.domain.errors import ScorerError
from proctor.domain.score import Score
from proctor.engine.slow_scoring import SIZE


def main() -> None:
    _die_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print must not be taken for an answer
    with asyncio.Runner() as runner:
        while question := _read(sys.stdin.buffer):
            said = pickle.dumps(_score(runner, question))
            answers.write(SIZE.pack(len(said)) + said)
            answers.flush()


def _die_with_parent() -> None:
    """Linux ends this process with the one that started it, even in the middle of an answer."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _read(questions: BinaryIO) -> bytes:
    """The next question; nothing when there are no more."""
    head = questions.read(SIZE.size)
    return questions.read(SIZE.unpack(head)[0]) if head else b""


def _score(runner: asyncio.Runner, question: bytes) -> Score | Exception:
    try:
        scorer, sample, response = pickle.loads(question)  # noqa: S301 - from the process that started this one
        score: Score = runner.run(scorer.score(sample, response))
    except ScorerError as error:
        return ScorerError(str(error))
    except Exception as error:  # noqa: BLE001 - raised again by whoever asked
        return _sendable(error)
    return score


def _sendable(error: Exception) -> Exception:
    """The error itself, or one with its words where it cannot be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own words
    except Exception:  # noqa: BLE001 - anything may happen in another's methods
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


if __name__ == "__main__":
    main()
