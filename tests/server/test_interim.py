"""A run before its end: intervals that hold at every look, in the order in which the samples were drawn."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from proctor.metrics.sequences import ConfidenceSequence
from proctor.planning.selection import shuffle_key
from server.serving import SECRET, Server, serving
from server.test_document_cache import counts

V1 = "/api/v1"
SEED = 4
MODELS = ["demo/strong", "demo/weak"]


def handed_in(server: Server, **plan: Any) -> str:
    benchmark = {"benchmark": "puzzles", "parameters": {"count": 300}, "limit": 120}
    return server.run({"models": MODELS, "benchmarks": [benchmark], "seed": SEED, **plan})


@pytest.fixture(scope="module")
def run(server: Server) -> str:
    return handed_in(server, limits={"cost_usd": 4})


@pytest.fixture(scope="module")
def marks(server: Server, run: str) -> list[dict[str, float]]:
    """Each model's marks by sample, as the results have them."""
    found = []
    for model in MODELS:
        rows = server.get(f"{V1}/runs/{run}/results?limit=500&model={model}")["items"]
        found.append({row["sample_id"]: row["scores"]["puzzle"]["value"] for row in rows})
    return found


def narrowed(sequence: ConfidenceSequence, values: list[float]) -> list[float]:
    for value in values:
        sequence.update(value)
    return list(sequence.interval())


def drawn(marks: dict[str, float]) -> list[str]:
    return sorted(marks, key=lambda name: shuffle_key(SEED, name, None))


def test_a_models_interval_is_the_confidence_sequence_of_its_marks_as_they_were_drawn(
    server: Server, run: str, marks: list[dict[str, float]]
) -> None:
    found = server.get(f"{V1}/runs/{run}/interim")
    assert (found["confidence"], found["cost_limit_usd"]) == (0.95, 4)
    for one, mine in zip(found["evaluations"], marks, strict=True):
        points = one["points"]
        assert [points[0]["n"], points[-1]["n"]] == [5, 120]
        for point in (points[3], points[-1]):
            values = [mine[name] for name in drawn(mine)[: point["n"]]]
            assert point["value"] == pytest.approx(sum(values) / len(values))
        widths = [high - low for low, high in (point["interval"] for point in points)]
        assert widths == sorted(widths, reverse=True)
        assert one["per_minute"] is None


def test_it_is_computed_once_for_all_who_look_and_the_same_as_for_one(server: Server, run: str, tmp_path: Path) -> None:
    before = counts(server).get(("interim", "miss"), 0)
    seen = {server.ask("GET", f"{V1}/runs/{run}/interim").body for _ in range(3)}
    with serving(server.home, tmp_path, PROCTOR_CACHE_MB="0", PROCTOR_SECRET=SECRET) as computing:
        seen.add(computing.ask("GET", f"{V1}/runs/{run}/interim").body)
    assert len(seen) == 1
    assert counts(server)["interim", "miss"] <= before + 1
    server.post(f"{V1}/runs/{run}/rescore", {"scorers": ["exact"]})
    until = time.monotonic() + 120
    while server.ask("GET", f"{V1}/runs/{run}/interim").body in seen:
        assert time.monotonic() < until, "what is kept goes with the first change"
        time.sleep(0.1)
    server.post(f"{V1}/runs/{run}/rescore", {"use": ["puzzle"]})
    while server.ask("GET", f"{V1}/runs/{run}/interim").body not in seen:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_pair_is_decided_once_its_interval_excludes_zero(
    server: Server, run: str, marks: list[dict[str, float]]
) -> None:
    [pair] = server.get(f"{V1}/runs/{run}/interim")["pairs"]
    differences = [marks[1][name] - marks[0][name] for name in drawn(marks[0])]
    assert pair["interval"] == pytest.approx(narrowed(ConfidenceSequence.of_differences(), differences), abs=1e-3)
    assert (pair["a"], pair["b"], pair["n"], pair["is_decided"]) == (*MODELS, 120, True)
    twice = handed_in(server, models=["demo/weak", "demo/weak?delay_ms=1"])
    [alike] = server.get(f"{V1}/runs/{twice}/interim")["pairs"]
    assert not alike["is_decided"]


def test_the_newest_results_say_no_more_than_their_marks(
    server: Server, run: str, marks: list[dict[str, float]]
) -> None:
    one = server.get(f"{V1}/runs/{run}/interim")["evaluations"][1]
    assert len(one["latest"]) == 120
    ids = [row["result_id"] for row in one["latest"]]
    assert ids == sorted(ids, key=int)
    invalid = server.get(f"{V1}/runs/{run}/positions?outcome=invalid&model={MODELS[1]}")["total"]
    right = sum(value == 1 for value in marks[1].values())
    said = [row["mark"] for row in one["latest"]]
    assert (said.count("right"), said.count("invalid")) == (right, invalid)


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        ({"benchmarks": [{"benchmark": "puzzles", "parameters": {"count": 30}}]}, "in the order of their file"),
        ({"epochs": 2}, "asked several times"),
    ],
)
def test_no_interval_is_shown_where_none_would_hold(server: Server, plan: dict[str, Any], why: str) -> None:
    found = server.get(f"{V1}/runs/{handed_in(server, **plan)}/interim")
    assert [one["points"] for one in found["evaluations"]] == [[], []]
    assert all(why in one["unknown_because"] for one in found["evaluations"])
    assert found["pairs"] == []


GROUPED = """\
name: grouped
version: "1"
description: Questions of which two at a time belong together.
licence: CC0-1.0
dataset:
  source: rows.jsonl
  fields: {input: question, target: answer, group: pair}
prompt:
  user: "{{ input }}"
scorers: [exact]
"""


def test_samples_of_groups_have_an_interval_only_where_a_rule_keeps_groups_together(tmp_path: Path) -> None:
    rows = [{"id": str(n), "question": f"{n}?", "answer": "1", "pair": f"g{n // 2}"} for n in range(60)]
    (tmp_path / "rows.jsonl").write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    (tmp_path / "grouped.yaml").write_text(GROUPED)
    plan = {"models": MODELS, "benchmarks": [{"benchmark": "grouped.yaml", "limit": 40}], "seed": SEED}
    with serving(tmp_path / "home", tmp_path) as own:
        without = own.get(f"{V1}/runs/{own.run(plan)}/interim")
        within = own.get(f"{V1}/runs/{own.run({**plan, 'until': 'decided'})}/interim")
    assert all("belong to groups" in one["unknown_because"] for one in without["evaluations"])
    assert without["pairs"] == []
    assert all(one["points"] for one in within["evaluations"])
