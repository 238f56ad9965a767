"""Runs in its own process: takes (scorer, sample, response), gives the score or the error."""

from __future__ import annotations

import asyncio
import pickle

from proctor.domain.errors import ScorerError
from proctor.domain.score import Score
from proctor.worker_loop import answer_questions


def main() -> None:
    with asyncio.Runner() as runner:
        answer_questions(lambda question: pickle.dumps(_score(runner, question)), get_ready=lambda: None)


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
