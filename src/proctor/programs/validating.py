"""Refuses what should never reach a workspace, and finds out what it is."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.problem import Problem
from proctor.domain.submission import beyond_limits
from proctor.programs.entry import SUFFIXES, EntryPoint, candidates, entry_of
from proctor.scorers.code.validation import text_problem

_TEXT_SUFFIXES = tuple(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)


def refusal(problem: Problem, files: Mapping[str, bytes]) -> str | None:
    """Why these files are no program for this problem; None when they may be built."""
    if not files:
        return "there are no files"
    wrong = beyond_limits(files)
    if wrong:
        return wrong
    for path, content in files.items():
        if path.endswith(_TEXT_SUFFIXES):
            wrong = _source(content)
            if wrong:
                return f"the file {path!r}: {wrong}"
    if entry_of(problem.interface, files) is None:
        wanted = " or ".join(candidates(problem.interface))
        return f"there is no {wanted} in the top folder, so there is nothing to start"
    return None


def entry(problem: Problem, files: Mapping[str, bytes]) -> EntryPoint:
    """How it is started, once it was found to be a program."""
    found = entry_of(problem.interface, files)
    if found is None:
        raise ValueError("refused programs have no entry")
    return found


def _source(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return "binary: it is not UTF-8 text"
    return text_problem(text)
