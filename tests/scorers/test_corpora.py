"""Responses labelled by hand: what a careful reader says the answer is, and how often the scorers agree."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from proctor.domain.response import FinishReason, Response
from proctor.domain.sample import Sample
from proctor.scorers import choice, numeric
from scorers.corpora.readers import READERS
from scorers.scoring import HERE, rows

MIN_RIGHT = 0.97
BATCHES = range(3, 12)


def _response(row: Mapping[str, Any]) -> Response:
    reason = FinishReason.LENGTH if row.get("cut") else FinishReason.STOP
    return Response(row["response"], finish_reason=reason)


def _choice_is_right(row: Mapping[str, Any]) -> bool:
    sample = Sample("1", "?", "A", tuple(row["choices"]))
    return asyncio.run(choice.create().score(sample, _response(row))).answer == row["expect"]


def _number_is_right(row: Mapping[str, Any]) -> bool:
    tags = {"language": row["language"]} if "language" in row else {}
    # A number that is not in any response stands for 'none': it must not be found, whatever is read.
    target = row["expect"] or "-987654321"
    verdict = asyncio.run(numeric.create().score(Sample("1", "?", target, tags=tags), _response(row)))
    return verdict.value == 1 if row["expect"] else verdict.is_invalid or "a range" in verdict.reason


READS = {**READERS, "choice": _choice_is_right, "numeric": _number_is_right}
FILES = {name: (f"corpora/{name}_1.jsonl", f"corpora/{name}_2.jsonl") for name in READERS} | {
    name: (f"corpus_{name}.jsonl", f"heldout_{name}.jsonl", *(f"corpora/{name}_{n}.jsonl" for n in BATCHES))
    for name in ("choice", "numeric")
}
EACH = pytest.mark.parametrize("name", sorted(READS))


def _corpus(name):
    return [row for file in FILES[name] for row in rows(HERE / file)]


@EACH
def test_labelled_responses_are_read_as_a_person_reads_them(name):
    corpus = _corpus(name)
    missed = [row for row in corpus if not READS[name](row)]
    print(f"\n{name}: {len(corpus) - len(missed)} of {len(corpus)} read as labelled")
    for row in missed:
        print(f"  missed (label {row['expect']}): {row['response']!r}")
    assert len(corpus) >= 60
    assert len(missed) <= (1 - MIN_RIGHT) * len(corpus)


@EACH
def test_wrong_labels_would_be_noticed(name):
    corpus = [row for row in _corpus(name) if row["expect"] is not None]
    other = {"A": "B", "B": "C", "C": "D", "D": "E", "E": "A"}
    spoilt = [{**row, "expect": other.get(str(row["expect"]), "-123456")} for row in corpus]
    assert sum(map(READS[name], spoilt)) <= 0.01 * len(spoilt)
