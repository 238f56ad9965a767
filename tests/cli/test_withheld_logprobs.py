"""A model gains nothing by giving no log-probabilities where it would be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import Cli

KINDS = ("Easy",) * 20 + ("Medium",) * 8 + ("Hard",) * 12
BENCHMARK = """name: letters
dataset: {source: letters.jsonl}
scorers: [logprob]
"""
MODELS = """
from proctor.domain.response import Response, TokenLogprob

def _letter(label):
    return Response(label, logprobs=(TokenLogprob(label, -0.1),))

def honest(prompt: str):
    return _letter("B" if "Medium" in prompt else "A")

def withholding(prompt: str):
    return Response("B") if "Hard" in prompt else _letter("A")
"""


def write_files() -> None:
    rows = [
        {"input": f"{kind} question {number}", "choices": ["yes", "no"], "target": "A"}
        for number, kind in enumerate(KINDS)
    ]
    Path("letters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("letters.yaml").write_text(BENCHMARK)
    Path("letter_models.py").write_text(MODELS)


def of_model(document: Any, name: str) -> Any:
    [found] = [item for item in document["evaluations"] if item["model"] == f"python/letter_models:{name}"]
    return found["metrics"]["accuracy"]


@pytest.fixture
def run(cli: Cli) -> Any:
    write_files()
    ended = cli(
        "run", "letters.yaml", "-m", "python/letter_models:honest", "-m", "python/letter_models:withholding", "--json"
    )
    assert ended.code == 0, ended.err
    return ended.json


def test_what_was_withheld_is_in_no_denominator_and_stands_beside_the_score(cli: Cli, run: Any) -> None:
    honest, withholding = of_model(run, "honest"), of_model(run, "withholding")
    assert (honest["value"], honest["n"]) == (0.8, 40)
    assert (withholding["value"], withholding["n"]) == (1.0, 28)
    assert (withholding["unreadable"], withholding["if_unreadable_wrong"]) == (12, 0.7)
    said = " ".join(cli("show", "latest").out.split())
    assert "12 unreadable marks, left out of the score. With them counted as wrong, accuracy would be 0.700." in said
    assert "judge" not in said


def test_comparisons_ranks_and_gates_rest_on_the_worse(cli: Cli, run: Any) -> None:
    [found] = cli("compare", "latest", "--json").json["comparisons"]
    assert found["better"] is None
    assert found["if_unreadable_wrong"]["difference"]["value"] == pytest.approx(-0.1)
    assert any("Unreadable marks:" in note for note in found["notes"])
    rows = cli("leaderboard", "--json").json["tables"][0]["rows"]
    assert {row["rank"] for row in rows} == {"1–2"}
    gated = cli("run", "letters.yaml", "-m", "python/letter_models:withholding", "--fail-under", "accuracy=0.8")
    assert gated.code != 0
    assert "0.7 with its 12 unreadable marks counted as wrong" in " ".join(gated.err.split())
