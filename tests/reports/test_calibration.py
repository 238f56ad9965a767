from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commands import Cli
from fakes.dialect import Ask, Reply
from fakes.provider import FakeProvider
from proctor.metrics.intervals import estimate_rate
from proctor.runs.measuring.calibration import calibrate
from proctor.stores.calibration import MarkPair

FORMAT = re.compile(r"^VERDICT ([0-9a-f]{16}): VALUE$", re.MULTILINE)


def pairs_of(*counted: tuple[float, float, int], epochs: int = 1, group: str | None = None) -> list[MarkPair]:
    """So many samples with these two marks, each as often as there are epochs."""
    samples = [(first, second) for first, second, count in counted for _ in range(count)]
    return [MarkPair(f"q{n:04}", group, *marks) for n, marks in enumerate(samples) for _ in range(epochs)]


MARKS = ((0.0, 0.0, 3), (0.0, 1.0, 1), (0.75, 1.0, 4), (1.0, 1.0, 8), (1.0, 0.0, 2))


def test_the_reference_is_averaged_for_each_height_of_the_judges_mark() -> None:
    found = calibrate("m", "b", "judge", "exact", pairs_of(*MARKS))
    assert found is not None
    assert found.n == 18
    assert found.agreement.value == pytest.approx(15 / 18, abs=1e-12)
    means = [(part.low, part.reference.value, part.reference.n) for part in found.bins]
    assert means == [(0.0, 0.25, 4), (0.6, 1.0, 4), (0.8, 0.8, 10)]
    expected = estimate_rate(8, 10)
    assert found.bins[2].reference.ci95 == expected.interval


def test_repeating_every_sample_ten_times_says_nothing_more() -> None:
    assert calibrate("m", "b", "judge", "exact", pairs_of(*MARKS, epochs=10)) == calibrate(
        "m", "b", "judge", "exact", pairs_of(*MARKS)
    )


def test_a_sample_on_which_epochs_differ_counts_by_its_share() -> None:
    epochs = [MarkPair("q1", None, mark, 1.0) for mark in (1.0, 1.0, 1.0, 0.0)]
    found = calibrate("m", "b", "judge", "exact", [*epochs, MarkPair("q2", None, 0.0, 1.0)])
    assert found is not None
    assert (found.n, found.agreement.value) == (2, pytest.approx(0.375))
    assert [(part.low, part.reference.n) for part in found.bins] == [(0.0, 2), (0.8, 1)]


def test_samples_of_one_group_widen_the_interval() -> None:
    alone = [MarkPair(f"q{n:02}", None, 1.0, float(n % 8 < 4)) for n in range(40)]
    grouped = [MarkPair(f"q{n:02}", f"g{n // 4}", 1.0, float(n % 8 < 4)) for n in range(40)]
    widths = []
    for pairs in (alone, grouped):
        found = calibrate("m", "b", "judge", "exact", pairs)
        assert found is not None
        assert found.agreement.ci95 is not None
        low, high = found.agreement.ci95
        widths.append(high - low)
    assert widths[1] > 1.5 * widths[0]


def test_without_a_response_that_both_marked_there_is_no_calibration() -> None:
    assert calibrate("m", "b", "judge", "exact", []) is None


def lenient(ask: Ask) -> Reply:
    """Two judges of one kind: one likes every answer but 7, the other only odd ones."""
    number = int(re.findall(r"It is (\d+)", ask.text)[-1])
    is_liked = number != 7 if ask.model == "kind" else number % 2 == 1
    return Reply(f"Well.\n\nVERDICT {FORMAT.findall(ask.text)[-1]}: {5 if is_liked else 1}")


@pytest.mark.parametrize("epochs", [1, 4])
def test_a_report_holds_the_judge_against_the_other_scorer(cli: Cli, epochs: int) -> None:
    rows = [{"id": f"q{n}", "input": f"Say {n}", "target": f"It is {n}"} for n in range(12)]
    Path("open.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_rubric, exact]\n"
    )
    Path("talk_of_nine.py").write_text(
        "def answer(prompt: str) -> str:\n    n = int(prompt.split()[-1])\n    return f'It is {n if n < 9 else 7}'\n"
    )
    with FakeProvider(reply=lenient) as provider:
        judges = [word for name in ("kind", "odd") for word in ("--judge", f"openai/{name}?base_url={provider.url}/v1")]
        ran = cli("run", "open.yaml", "-m", "python/talk_of_nine:answer", *judges, "--epochs", str(epochs), "--json")
        assert ran.code == 0, ran.err
    document = cli("report", "-f", "json").json
    [one] = document["calibration"]
    assert (one["judge"], one["reference"], one["n"]) == ("judge_rubric", "exact", 12)
    assert sum(part["reference"]["n"] for part in one["bins"]) == 12
    right = sum(part["reference"]["value"] * part["reference"]["n"] for part in one["bins"])
    assert right == pytest.approx(9, abs=1e-9)
    text = cli("report", "-f", "md").out
    assert "## Judges" in text
    assert "| agreement on right or wrong |" in text
    assert "Cohen's kappa" in text
