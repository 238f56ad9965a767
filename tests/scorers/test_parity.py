"""Agreement with published marks, item by item, on real outputs of real models."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict

import pytest

from proctor.domain.response import Response, ToolCall
from proctor.domain.sample import Sample
from proctor.scorers import choice, exact, numeric, tool_calls
from proctor.scorers.instructions import mark
from scorers.scoring import rows, score, shared

GSM8K_MODELS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
# English answers of one to three words that the published marking takes for another language.
SHORT_ENGLISH = {
    (1843, "change_case:english_lowercase"),
    (202, "change_case:english_lowercase"),
    (2341, "change_case:english_capital"),
}


def test_gsm8k_marks_agree_with_the_published_ones():
    agreed = total = right = 0
    for row in rows(shared("golden/gsm8k.jsonl")):
        target = row["ground_truth"].rpartition("A:")[2].strip()
        for model in GSM8K_MODELS:
            said = score(numeric.create(), row[model]["solution"], target, question=row["question"]).value == 1
            total += 1
            right += said
            agreed += said == row[model]["is_correct"]
    print(f"\ngsm8k: {agreed} of {total} marks agree; {right} right")
    assert total == 2400
    assert 0 < right < total
    assert agreed >= 0.995 * total


def test_gsm8k_answers_are_found_in_the_working_alone():
    """The last line, 'A: 18', is taken away; what is left announces nothing. Some differ: the line drops decimals."""
    read: list[bool] = []
    for row in rows(shared("golden/gsm8k.jsonl")):
        for model in GSM8K_MODELS:
            working, line, answer = row[model]["solution"].rpartition("\nA: ")
            if line:
                target = answer.strip() or "none"
                working = re.sub(r"<<[^>]*>>", "", working)
                read.append(score(numeric.create(), working, target, question=row["question"]).value == 1)
    print(f"\ngsm8k without its last lines: {sum(read)} of {len(read)}")
    assert sum(read) >= 0.97 * len(read)


def test_gsm8k_marks_do_not_agree_when_the_targets_are_wrong():
    """The check above can fail: with each target one higher, hardly any right answer stays right."""
    still_right = sum(
        score(numeric.create(), row["175b_verification"]["solution"], str(int(target) + 1)).value == 1
        for row in rows(shared("golden/gsm8k.jsonl"))
        if (target := row["ground_truth"].rpartition("A:")[2].strip()).isdigit()
    )
    assert still_right < 30


def test_bbh_accuracies_are_the_published_ones():
    published = {row["task"]: row["accuracy"] for row in rows(shared("golden/bbh_published.jsonl"))}
    marks: dict[str, list[float]] = defaultdict(list)
    for row in rows(shared("golden/bbh.jsonl")):
        is_letter = re.fullmatch(r"\([A-Z]\)", row["target"])
        is_number = re.fullmatch(r"-?\d+", row["target"])
        scorer = (
            choice.create() if is_letter else numeric.create() if is_number else exact.create(after="the answer is")
        )
        marks[row["task"]].append(score(scorer, row["prediction"], row["target"]).value or 0.0)
    assert {task: round(100 * sum(each) / len(each), 6) for task, each in marks.items()} == {
        task: round(accuracy, 6) for task, accuracy in published.items()
    }


def _ifeval(detector: str) -> tuple[int, set[tuple[int, str]]]:
    total, different = 0, set()
    for row in rows(shared("golden/ifeval.jsonl")):
        marks = mark(row["response"], row["instruction_id_list"], row["kwargs"], detector)
        for mode in ("strict", "loose"):
            for kind, ours, theirs in zip(row["instruction_id_list"], marks[mode], row[mode], strict=True):
                total += 1
                if ours != theirs:
                    different.add((row["key"], kind))
    return total, different


def test_ifeval_marks_are_the_published_ones_with_the_published_language_detector():
    pytest.importorskip("langdetect")
    total, different = _ifeval("langdetect")
    assert total == 826
    assert different == set()


def test_ifeval_marks_differ_only_where_short_english_was_taken_for_another_language():
    _, different = _ifeval("own")
    assert different == SHORT_ENGLISH


def _perfect(allowed, required=()):
    """The first value allowed, at any depth; an argument that may be left out is, unless the function requires it."""
    if isinstance(allowed, dict):
        return {
            key: _perfect(next((value for value in values if value != ""), ""))
            for key, values in allowed.items()
            if "" not in values or key in required
        }
    return [_perfect(value) for value in allowed] if isinstance(allowed, list) else allowed


@pytest.mark.parametrize(("name", "count"), [("simple", 400), ("multiple", 200), ("parallel", 200)])
def test_the_gold_tool_calls_score_1_in_any_order_and_a_changed_one_0(name, count):
    scorer = tool_calls.create()
    seen = 0
    for row in rows(shared(f"bfcl-{name}.jsonl")):
        metadata = {"ground_truth": row["ground_truth"], "function": row["function"]}
        sample = Sample("1", "?", metadata=metadata)
        required = {entry["name"]: entry["parameters"].get("required", ()) for entry in row["function"]}
        calls = tuple(
            ToolCall(function, _perfect(given, required[function]))
            for call in row["ground_truth"]
            for function, given in call.items()
        )
        spoilt = (*calls[:-1], ToolCall(calls[-1].name, {**calls[-1].arguments, "no_such_argument": 1}))
        for made, expected in ((calls, 1), (calls[::-1], 1), (spoilt, 0), (calls[:-1] + calls[-1:] * 2, 0)):
            said = asyncio.run(scorer.score(sample, Response("", tool_calls=made)))
            assert said.value == expected, (row["id"], said.reason)
        seen += 1
    assert seen == count
