"""Whether an extractor reads a labelled response as its label says; a label of None means that there is no answer."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import orjson

from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer
from proctor.puzzles import readings
from proctor.puzzles.family import find_answer
from proctor.scorers import exact, json_schema, math, regex
from proctor.scorers.call_syntax import calls_in
from proctor.scorers.code.extraction import extract_function, extract_program
from proctor.scorers.judging.pairwise import Pairwise
from proctor.scorers.judging.reference import ReferenceCheck
from proctor.scorers.judging.rubric import Rubric
from proctor.scorers.judging.verdict import read_verdict
from proctor.scorers.reading import final_text

HERE = Path(__file__).resolve().parent
Row = Mapping[str, Any]
CODE = "3f9c1a7be2d04856"
KINDS: Mapping[str, Any] = {"rubric": Rubric(), "reference": ReferenceCheck(), "pairwise": Pairwise()}
NOWHERE = "987654321"
"""Stands for 'no answer' where a scorer needs a target: it is in no response."""


def rows(name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (HERE / f"{name}.jsonl").read_bytes().splitlines()]


def _response(row: Row) -> Response:
    return Response(row["response"], finish_reason=FinishReason.LENGTH if row.get("cut") else FinishReason.STOP)


def _score(scorer: Scorer, row: Row, target: str) -> Score:
    return asyncio.run(scorer.score(Sample("1", "?", target), _response(row)))


def reads_math(row: Row) -> bool:
    found = _score(math.create(), row, row["expect"] or NOWHERE)
    return found.value == 1 if row["expect"] else found.is_invalid


def reads_verdict(row: Row) -> bool:
    kind = KINDS[row["kind"]]
    response = _response({**row, "response": row["response"].replace("{code}", CODE)})
    return bool(read_verdict(response, CODE, kind.understand, kind.allowed).verdict == row["expect"])


def reads_exact(row: Row) -> bool:
    found = _score(exact.create(**row["options"]), row, row["expect"] or NOWHERE)
    return found.value == 1 if row["expect"] else found.is_invalid


def reads_regex(row: Row) -> bool:
    found = _score(regex.create(**row["options"]), row, row["expect"] or NOWHERE)
    return found.value == 1 if row["expect"] else found.is_invalid


def reads_puzzle(row: Row) -> bool:
    reading = getattr(readings, row["sort"].upper())
    found = find_answer(final_text(row["response"]), reading)
    if row["expect"] is None or found is None:
        return row["expect"] is None and found is None
    return bool(found.value == reading.read(row["expect"]))


def reads_json(row: Row) -> bool:
    wanted = None if row["expect"] == "NULL" else row["expect"]
    found = _score(json_schema.create(schema={"const": wanted}), row, NOWHERE)
    return found.value == 1 if row["expect"] is not None else found.is_invalid


def reads_calls(row: Row) -> bool:
    text = final_text(row["response"])
    found = calls_in(text) if text else None
    said = None if found is None else [[call.name, call.arguments] for call in found]
    return bool(said == row["expect"])


def reads_code(row: Row) -> bool:
    """What the program says is compared, not its text; the programs are the corpus' own, so they may run here."""
    if "program" in row:
        found = extract_program(row["response"], row["program"])
    else:
        found = extract_function(row["response"], row["entry_point"], row["prompt"])
    if row["expect"] is None or not found.code.strip():
        return row["expect"] is None and not found.code.strip()
    try:
        said = _ran(found.code, row["stdin"]) if "program" in row else _called(found.code, row["call"])
    except Exception:  # noqa: BLE001 - whatever a wrongly extracted text does when it runs, it was read wrongly
        return False
    return bool(said == row["expect"])


def _called(code: str, call: str) -> str:
    names: dict[str, Any] = {"__name__": "answer"}
    with redirect_stdout(io.StringIO()):
        exec(code, names)
        return repr(eval(call, names))


def _ran(code: str, given: str) -> str:
    before, printed = sys.stdin, io.StringIO()
    sys.stdin = io.StringIO(given)
    try:
        with redirect_stdout(printed):
            exec(code, {"__name__": "__main__"})
    finally:
        sys.stdin = before
    return printed.getvalue().strip()


READERS: Mapping[str, Callable[[Row], bool]] = {
    "math": reads_math,
    "verdict": reads_verdict,
    "exact": reads_exact,
    "regex": reads_regex,
    "puzzle": reads_puzzle,
    "json": reads_json,
    "calls": reads_calls,
    "code": reads_code,
}
