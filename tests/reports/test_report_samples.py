from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.domain.documents.effort import TokenCounts
from proctor.domain.documents.report import ReportSample
from proctor.domain.trial import Outcome
from proctor.reports.html import page_html
from proctor.reports.markdown import page_markdown
from proctor.reports.report_samples import shown_sample
from proctor.reports.run_page import run_page
from proctor.runs.report import read_report, share_room
from proctor.stores.database import Database
from reports.stored import FAILED, INVALID, FixedScorer, Told, record


def test_wrong_answers_stand_in_the_report_with_prompt_response_target_and_reason(
    database: Database, tmp_path: Path
) -> None:
    marks: dict[str, Any] = {"good": 1.0, "bad": 0.0, "partly": 0.5, "down": FAILED, "unread": INVALID}
    run = record(database, tmp_path, Told(marks, text="it is 7", targets={"bad": "eight"}, answers={"bad": "7"}))
    document = read_report(database, run)
    assert document.samples.totals == {"failed": 1, "invalid": 1, "wrong": 2}
    page = run_page(document)
    assert [(item.kind, item.sample_id) for item in page.samples] == [
        ("failed", "down"), ("invalid", "unread"), ("wrong", "bad"), ("wrong", "partly"),
    ]  # fmt: skip
    for text in (page_html(page), page_markdown(page)):
        for part in ("question bad", "it is 7", "eight", "0; extracted answer: 7; as the test says"):
            assert part in text
        assert "question good" not in text


def test_only_the_first_scorer_says_what_is_wrong(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({"a": 0.0, "b": 1.0}, scorers=(FixedScorer(), FixedScorer("second"))))
    assert read_report(database, run).samples.totals["wrong"] == 1


@pytest.mark.parametrize(
    ("totals", "most", "expected"),
    [
        ({"failed": 2, "invalid": 0, "wrong": 900}, 200, {"failed": 2, "invalid": 0, "wrong": 198}),
        ({"failed": 900, "invalid": 900, "wrong": 900}, 10, {"failed": 4, "invalid": 3, "wrong": 3}),
        ({"failed": 1, "invalid": 1, "wrong": 1}, 10, {"failed": 1, "invalid": 1, "wrong": 1}),
        ({"failed": 5, "invalid": 5, "wrong": 5}, 0, {"failed": 0, "invalid": 0, "wrong": 0}),
    ],
)
def test_no_kind_of_trial_crowds_out_the_others(totals: dict[str, int], most: int, expected: dict[str, int]) -> None:
    assert share_room(totals, most) == expected


def test_worked_examples_are_one_line_of_a_shown_sample() -> None:
    turns = [("system", "rules"), ("user", "one"), ("assistant", "1"), ("user", "two"), ("assistant", "2")]
    prompt = [{"role": role, "content": text} for role, text in [*turns, ("user", "the question")]]
    item = ReportSample(
        run_id="r", model="m", benchmark="b", sample_id="s", epoch=0, attempt=0, category=None, input="the question",
        target="t", response="r", scores={}, outcome=Outcome.SCORED, cached=False, finish_reason="stop",
        latency_seconds=None, first_token_seconds=None, usage=TokenCounts(None, None, None, None), cost_usd=None,
        cost_basis="unknown", price_source=None, error=None, prompt=prompt, worked_examples=2, kind="wrong",
    )  # fmt: skip
    assert shown_sample(item).parts[:3] == (
        ("system", "rules"),
        ("prompt", "2 worked examples ('proctor samples --full' shows them)"),
        ("user", "the question"),
    )
