"""Finds out which tool a log is of, and reads it."""

from __future__ import annotations

from pathlib import Path

from proctor.runs.imports.inspect_log import read_inspect
from proctor.runs.imports.lm_eval_log import is_lm_eval, read_lm_eval
from proctor.runs.imports.log import Log, LogError, read_json
from proctor.runs.imports.promptfoo_log import is_promptfoo, read_promptfoo

KNOWN = (
    "Known are logs of Inspect (.eval, .json), of lm-eval (results_….json with samples_….jsonl beside it) and "
    "results of promptfoo (-o results.json)."
)


def logs_in(path: Path) -> list[Path]:
    """The file itself, or the logs in a folder and below it."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise LogError(f"There is no {path}.")
    found = [one for one in sorted(path.rglob("*")) if one.suffix == ".eval" or one.name.startswith("results_")]
    if not found:
        raise LogError(f"There is no log in {path}. {KNOWN}")
    return found


def read_log(path: Path) -> Log:
    """Read a log whole; raises LogError for one that is of no tool that is known, or is damaged."""
    try:
        if path.suffix == ".eval":
            return read_inspect(path)
        if is_lm_eval(path):
            return read_lm_eval(path)
        return _read_document(path)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror}.") from None
    except RecursionError:
        raise LogError(f"{path} is nested too deeply to be a log.") from None


def _read_document(path: Path) -> Log:
    try:
        document = read_json(path.read_bytes(), str(path))
    except LogError:
        document = None
    if is_promptfoo(document):
        return read_promptfoo(path, document)
    if path.suffix == ".json" and (document is None or (isinstance(document, dict) and "eval" in document)):
        return read_inspect(path)
    raise LogError(f"{path} is no log that is known. {KNOWN}")
