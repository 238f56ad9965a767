"""Judges in whole runs: over HTTP, through faults, with a cache, within their limits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from commands import ended
from fakes.dialect import Ask, Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.judges.asking import UNREADABLE_RETRIES
from proctor.stores.scores import ScoreStore
from stores.parts import connected, new_database

FORMAT = re.compile(r"^VERDICT ([0-9a-f]{16}): VALUE$", re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A benchmark of open questions, and a model that answers them by repeating the question's number."""
    rows = [{"id": f"q{n}", "input": f"Say {n}", "target": str(n)} for n in range(12)]
    (tmp_path / "open.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_rubric]\n"
    )
    (tmp_path / "talk.py").write_text(
        "def answer(prompt: str, options: dict) -> str:\n    return 'It is ' + prompt.split()[-1]\n"
    )
    return tmp_path


def proctor(folder: Path, *arguments: str) -> tuple[int, Any, str]:
    code, out, err = ended(folder / "home", folder, *arguments)
    return code, json.loads(out) if "--json" in arguments and out else out, err


def judge_reply(value: Callable[[str], object]) -> Callable[[Ask], Reply]:
    """Gives the verdict that `value` finds for the prompt, with the request's code."""
    return lambda ask: Reply(f"Well.\n\nVERDICT {FORMAT.findall(ask.text)[-1]}: {value(ask.text)}")


def mark_by_number(text: str) -> int:
    """Odd questions get 5, even ones 1."""
    found = re.search(r"It is (\d+)", text)
    assert found is not None
    return 5 if int(found[1]) % 2 else 1


def run(folder: Path, *judges: str, extra: tuple[str, ...] = ()) -> tuple[int, Any, str]:
    names = [word for judge in judges for word in ("--judge", judge)]
    return proctor(folder, "run", "open.yaml", "-m", "python/talk:answer", *names, *extra, "--json")


def over_http(provider: FakeProvider, name: str = "judge", more: str = "") -> str:
    return f"openai/{name}?base_url={provider.url}/v1{more}"


def test_a_benchmark_that_needs_a_judge_says_so_before_anything_is_asked(folder: Path) -> None:
    code, out, err = run(folder)
    assert (code, out["kind"]) == (2, "PlanError")
    assert "--judge" in err
    code, _, err = run(folder, extra=("--dry-run",))
    assert code == 2


def test_a_judge_over_http_marks_a_run_and_its_work_is_in_the_document(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(mark_by_number)) as provider:
        code, document, err = run(folder, over_http(provider, more="&temperature=0&max_tokens=300"))
        assert code == 0, err
        assert sum(provider.asked.values()) == 12
        body = provider.requests[0].json
        assert (body["temperature"], body["max_tokens"]) == (0, 300)
        assert [message["role"] for message in body["messages"]] == ["system", "user"]
    [evaluation] = document["evaluations"]
    assert (evaluation["scored"], evaluation["metrics"]["accuracy"]["value"]) == (12, 0.5)
    [work] = evaluation["judges"]["judge_rubric"].values()
    assert (work["verdicts"], work["requests"], work["cached"], work["unreadable"]) == (12, 12, 0, 0)
    assert work["usage"] == {"input_tokens": 12 * 11, "output_tokens": 12 * 7}
    assert work["cost_usd"] is None
    assert "agreement" not in evaluation


def test_a_judges_cost_is_known_when_its_price_is(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(mark_by_number)) as provider:
        judge = over_http(provider, more="&max_tokens=300")
        code, document, err = run(folder, judge, extra=("--assume-price", "1/2"))
    assert code == 0, err
    [work] = document["evaluations"][0]["judges"]["judge_rubric"].values()
    assert work["cost_usd"] == pytest.approx(12 * (11 * 1 + 7 * 2) / 1e6)


def test_the_cost_limit_holds_for_judges_too(folder: Path) -> None:
    def dear(ask: Ask) -> Reply:
        return replace(judge_reply(mark_by_number)(ask), input_tokens=2_000, output_tokens=250)

    limits = ("--max-cost", "0.02", "--assume-price", "1/2", "--max-tokens", "100", "--concurrency", "1")
    with FakeProvider(reply=dear) as provider:
        code, out, err = run(folder, over_http(provider), extra=limits)
        assert (code, out["kind"]) == (2, "PlanError")
        assert "answers of the judge openai/judge may be of any length" in err
        code, document, err = run(folder, over_http(provider, more="&max_tokens=300"), extra=limits)
        asked = sum(provider.asked.values())
        assert code == 1, err
        assert "cost limit" in document["error"]
        assert 0 < asked * 0.0025 <= 0.02
        # What the judge has cost counts when the run is taken up again.
        code, document, err = proctor(folder, "resume", "latest", "--json")
        assert code == 1, err
        assert sum(provider.asked.values()) * 0.0025 <= 0.02


def test_the_same_request_to_a_judge_is_asked_once_in_all_runs(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(mark_by_number)) as provider:
        judge = over_http(provider)
        run(folder, judge)
        code, document, err = run(folder, judge)
        assert code == 0, err
        assert sum(provider.asked.values()) == 12
        [work] = document["evaluations"][0]["judges"]["judge_rubric"].values()
        assert (work["requests"], work["cached"], work["cost_usd"]) == (0, 12, 0)
        run(folder, judge, extra=("--no-cache",))
        assert sum(provider.asked.values()) == 24
        run(folder, over_http(provider, more="&temperature=0"))
        assert sum(provider.asked.values()) == 36


def test_a_judges_faults_are_retried_and_its_concurrency_is_limited(folder: Path) -> None:
    faults = Faults((), {"429": 0.2, "500": 0.2}, 2, 1, "0.05", 3600.0)
    with FakeProvider(faults, reply=judge_reply(mark_by_number), latency_seconds=0.02) as provider:
        code, document, err = run(folder, over_http(provider), extra=("--concurrency", "3"))
        assert code == 0, err
        assert provider.met, "the judge did not misbehave"
        assert provider.most_in_flight <= 3
    [evaluation] = document["evaluations"]
    assert (evaluation["scored"], evaluation["failed"]) == (12, 0)


def test_a_judge_that_is_not_there_costs_no_marks_and_resuming_asks_only_the_judge(folder: Path) -> None:
    (folder / "talk.py").write_text(
        "def answer(prompt: str) -> str:\n"
        "    with open('asked.txt', 'a') as file:\n        file.write(prompt + '\\n')\n"
        "    return 'It is ' + prompt.split()[-1]\n"
    )
    with FakeProvider() as gone:
        port = gone.port
    code, document, err = run(folder, f"openai/judge?base_url=http://127.0.0.1:{port}/v1", extra=("--retries", "1"))
    assert code == 1
    assert "judge openai/judge" in document["error"]
    [evaluation] = document["evaluations"]
    assert (evaluation["failed"], evaluation["invalid"], evaluation["scored"]) == (12, 0, 0)
    assert evaluation["metrics"]["accuracy"]["value"] is None
    with FakeProvider(reply=judge_reply(mark_by_number), port=port):
        code, document, err = proctor(folder, "resume", "latest", "--json")
    assert code == 0, err
    [evaluation] = document["evaluations"]
    assert (evaluation["failed"], evaluation["scored"], evaluation["metrics"]["accuracy"]["value"]) == (0, 12, 0.5)
    assert len((folder / "asked.txt").read_text().splitlines()) == 12


def number_in(ask: Ask) -> int:
    found = re.search(r"It is (\d+)", ask.text)
    assert found is not None
    return int(found[1])


def unreadable_below(number: int, reply: Reply) -> Callable[[Ask], Reply]:
    """A judge whose verdict is the highest mark, and which gives this reply instead on the first answers."""
    return lambda ask: reply if number_in(ask) < number else judge_reply(lambda _: 5)(ask)


@pytest.mark.parametrize(
    "reply",
    [
        Reply("VERDICT: 5"),
        Reply(""),
        Reply("It is good, and", "length"),
        Reply("", "filtered"),
    ],
)
def test_an_unreadable_verdict_is_in_no_score_and_counted_beside_it(folder: Path, reply: Reply) -> None:
    with FakeProvider(reply=unreadable_below(4, reply)) as provider:
        code, document, err = run(folder, over_http(provider))
        assert code == 0, err
        assert sum(provider.asked.values()) == 8 + 4 * (1 + UNREADABLE_RETRIES)
    [evaluation] = document["evaluations"]
    assert (evaluation["scored"], evaluation["invalid"], evaluation["failed"]) == (8, 0, 4)
    assert evaluation["unreadable_verdicts"] == 4
    accuracy = evaluation["metrics"]["accuracy"]
    assert (accuracy["value"], accuracy["n"]) == (1.0, 8)
    [work] = evaluation["judges"]["judge_rubric"].values()
    assert (work["verdicts"], work["unreadable"], work["requests"]) == (8, 4, 8 + 4 * (1 + UNREADABLE_RETRIES))
    _, rows, _ = proctor(folder, "export", "latest")
    scores = [json.loads(line)["scores"]["judge_rubric"] for line in rows.splitlines()]
    unread = [score for score in scores if score["value"] is None]
    assert len(unread) == 4
    assert all("the judge's failing" in score["reason"] for score in unread)
    for command in ("show", "report"):
        _, shown, _ = proctor(folder, command, *(("-f", "md") if command == "report" else ()))
        assert "4 unreadable judge verdicts, left out of the score." in " ".join(shown.split())


def test_a_gate_counts_verdicts_that_cannot_be_read_as_wrong(folder: Path) -> None:
    with FakeProvider(reply=unreadable_below(4, Reply("Hm."))) as provider:
        code, _, err = run(folder, over_http(provider), extra=("--fail-under", "accuracy=0.8"))
        assert code == 1
        assert "accuracy is 1 (n=8), but 0.6667 with its 4 unreadable marks" in err
        code, _, err = run(folder, over_http(provider), extra=("--fail-under", "accuracy=0.6"))
        assert code == 0, err


def test_a_judge_is_asked_again_for_a_verdict_that_can_be_read_within_the_plans_retries(folder: Path) -> None:
    """The judge can be read on its second try only."""
    tries: dict[int, int] = {}

    def reply(ask: Ask) -> Reply:
        tries[number_in(ask)] = tries.get(number_in(ask), 0) + 1
        return judge_reply(mark_by_number)(ask) if tries[number_in(ask)] % 2 == 0 else Reply("Let me think.")

    with FakeProvider(reply=reply) as provider:
        code, document, err = run(folder, over_http(provider))
        assert code == 0, err
        [evaluation] = document["evaluations"]
        assert (evaluation["scored"], evaluation["unreadable_verdicts"]) == (12, 0)
        assert evaluation["metrics"]["accuracy"]["value"] == 0.5
        [work] = evaluation["judges"]["judge_rubric"].values()
        assert (work["verdicts"], work["requests"]) == (12, 24)
        # Only what could be read is in the cache.
        run(folder, over_http(provider))
        assert sum(provider.asked.values()) == 24
        code, document, _ = run(folder, over_http(provider), extra=("--no-cache", "--retries", "0"))
        assert document["evaluations"][0]["unreadable_verdicts"] == 12
        assert sum(provider.asked.values()) == 36


def test_answers_that_a_judges_provider_refuses_are_counted_like_unreadable_verdicts(folder: Path) -> None:
    with FakeProvider(Faults(rates={"400": 0.3}), reply=judge_reply(lambda _: 5)) as provider:
        code, document, err = run(folder, over_http(provider))
    assert code == 0, err
    [evaluation] = document["evaluations"]
    assert 0 < evaluation["failed"] < 12
    assert evaluation["unreadable_verdicts"] == evaluation["failed"]
    _, shown, _ = proctor(folder, "samples", "--outcome", "failed")
    assert "the judge's failing and not the answer's: openai/judge: " in " ".join(shown.split())


def test_resuming_judges_again_what_could_not_be_read_and_asks_the_model_nothing(folder: Path) -> None:
    (folder / "talk.py").write_text(
        "def answer(prompt: str) -> str:\n"
        "    with open('asked.txt', 'a') as file:\n        file.write(prompt + '\\n')\n"
        "    return 'It is ' + prompt.split()[-1]\n"
    )
    with FakeProvider(reply=unreadable_below(4, Reply("Hm."))) as provider:
        port = provider.port
        _, document, _ = run(folder, over_http(provider), extra=("--assume-price", "1/2"))
        assert document["evaluations"][0]["unreadable_verdicts"] == 4
        asked = sum(provider.asked.values())
    # First it cannot be reached, then it can be read.
    _, document, _ = proctor(folder, "resume", "latest", "--retries", "0", "--json")
    [evaluation] = document["evaluations"]
    assert (evaluation["failed"], evaluation["unreadable_verdicts"]) == (4, 4), "what broke the judge stays counted"
    with FakeProvider(reply=judge_reply(mark_by_number), port=port) as provider:
        code, document, err = proctor(folder, "resume", "latest", "--json")
        assert sum(provider.asked.values()) == 4
    assert code == 0, err
    [evaluation] = document["evaluations"]
    assert (evaluation["scored"], evaluation["failed"], evaluation["unreadable_verdicts"]) == (12, 0, 0)
    [work] = evaluation["judges"]["judge_rubric"].values()
    assert (work["verdicts"], work["unreadable"], work["requests"]) == (12, 0, asked + 4), "all of them were paid for"
    assert work["cost_usd"] == pytest.approx((asked + 4) * (11 * 1 + 7 * 2) / 1e6)
    assert len((folder / "asked.txt").read_text().splitlines()) == 12


@pytest.mark.parametrize("extra", [(), ("--no-cache",)])
def test_what_the_readable_half_of_a_comparison_cost_is_still_known_after_resuming(
    folder: Path, extra: tuple[str, ...]
) -> None:
    (folder / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_pairwise]\n"
    )
    is_broken = True

    def reply(ask: Ask) -> Reply:
        is_first = 'part="answer A">\nIt is' in ask.text
        return Reply("Hm.") if is_broken and not is_first else judge_reply(lambda _: "A" if is_first else "B")(ask)

    with FakeProvider(reply=reply) as provider:
        limits = ("--assume-price", "1/2", "--max-cost", "1", "--max-tokens", "100", *extra)
        _, document, err = run(folder, over_http(provider, more="&max_tokens=300"), extra=limits)
        assert document["evaluations"][0]["unreadable_verdicts"] == 12, err
        is_broken = False
        code, document, err = proctor(folder, "resume", "latest", "--json")
        assert code == 0, err
        asked = sum(provider.asked.values())
    [evaluation] = document["evaluations"]
    assert evaluation["metrics"]["accuracy"]["value"] == 1.0
    [work] = evaluation["judges"]["judge_pairwise"].values()
    assert (work["verdicts"], work["requests"]) == (12, asked)
    cost = asked * (11 * 1 + 7 * 2) / 1e6
    assert work["cost_usd"] == pytest.approx(cost)
    database = new_database(folder / "home")
    assert float(ScoreStore(database).spent_on_judges(document["run_id"])) == pytest.approx(cost)
    database.dispose()


def test_an_unreadable_reply_that_an_earlier_version_cached_is_not_used_and_replaced(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(mark_by_number)) as provider:
        run(folder, over_http(provider))
        with connected(folder / "home") as connection:
            connection.execute("UPDATE cache SET text = 'VERDICT: 5'")
            connection.commit()
        for _ in range(2):
            _, document, _ = run(folder, over_http(provider))
            assert document["evaluations"][0]["metrics"]["accuracy"]["value"] == 0.5
        assert sum(provider.asked.values()) == 24


def test_what_unreadable_replies_cost_counts_towards_the_limit(folder: Path) -> None:
    def reply(_: Ask) -> Reply:
        return Reply("Hm.", input_tokens=2_000, output_tokens=250)

    limits = ("--max-cost", "0.02", "--assume-price", "1/2", "--max-tokens", "100", "--concurrency", "1")
    with FakeProvider(reply=reply) as provider:
        code, document, err = run(folder, over_http(provider, more="&max_tokens=300"), extra=limits)
        assert code == 1, err
        assert "cost limit" in document["error"]
        asked = sum(provider.asked.values())
        assert 0 < asked * 0.0025 <= 0.02
        for _ in range(2):
            proctor(folder, "resume", "latest", "--json")
        assert sum(provider.asked.values()) * 0.0025 <= 0.02


def test_a_judge_that_prefers_a_position_is_named_beside_its_ties(folder: Path) -> None:
    (folder / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_pairwise]\n"
    )
    with FakeProvider(reply=judge_reply(lambda _: "A")) as provider:
        code, document, err = run(folder, over_http(provider))
        assert code == 0, err
    [evaluation] = document["evaluations"]
    assert evaluation["metrics"]["accuracy"]["value"] == 0.5
    [work] = evaluation["judges"]["judge_pairwise"].values()
    assert (work["undecided"], work["preferred_first"], work["preferred_second"]) == (12, 12, 0)
    said = "12 of 12 comparisons were undecided and count as ties: the judge preferred a position"
    for command in (("show",), ("report", "-f", "md"), ("report", "-f", "html")):
        _, shown, _ = proctor(folder, *command)
        assert said in " ".join(shown.split())
    _, board, _ = proctor(folder, "leaderboard", "--json")
    [row] = board["tables"][0]["rows"]
    assert said in row["note"]
    _, shown, _ = proctor(folder, "leaderboard")
    assert said in " ".join(shown.split())
    assert "failed counted as wrong" not in shown


def test_a_comparison_of_ties_that_no_judge_decided_says_so(folder: Path) -> None:
    (folder / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [judge_pairwise]\n"
    )
    (folder / "shout.py").write_text("def answer(prompt: str, options: dict) -> str:\n    return prompt.upper()\n")
    with FakeProvider(reply=judge_reply(lambda _: "B")) as provider:
        code, _, err = run(folder, over_http(provider), extra=("-m", "python/shout:answer"))
    assert code == 0, err
    _, document, _ = proctor(folder, "compare", "latest", "--json")
    [comparison] = document["comparisons"]
    said = "12 of 12 comparisons were undecided and count as ties: the judge preferred a position"
    assert [said in note for note in comparison["notes"]] == [True, True]


def test_a_panel_in_a_plan_agrees_as_far_as_it_does(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(mark_by_number)) as one, FakeProvider(reply=judge_reply(lambda _: 5)) as two:
        judges = [over_http(one, "first"), {"model": over_http(two, "second"), "temperature": 0}]
        plan = {"models": "python/talk:answer", "benchmarks": "open.yaml", "judge": judges}
        (folder / "plan.yaml").write_text(json.dumps(plan))
        code, document, err = proctor(folder, "run", "plan.yaml", "--json")
    assert code == 0, err
    [evaluation] = document["evaluations"]
    assert evaluation["metrics"]["accuracy"]["value"] == pytest.approx(0.75)
    assert list(evaluation["judges"]["judge_rubric"]) == ["openai/first", "openai/second"]
    agreement = evaluation["agreement"]["judge_rubric"]
    assert (agreement["unanimous"], agreement["cohen_kappa"]) == (0.5, 0.0)
    assert agreement["krippendorff_alpha"] < 0


def test_a_judge_listed_twice_is_refused(folder: Path) -> None:
    code, _, err = run(folder, "demo/strong", "demo/strong")
    assert code == 2
    assert "listed twice" in err


def test_a_panel_that_lost_one_judge_does_not_pay_the_other_again(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(mark_by_number)) as good:
        with FakeProvider() as gone:
            port = gone.port
        judges = (over_http(good, "good"), f"openai/late?base_url=http://127.0.0.1:{port}/v1")
        code, _, _ = run(folder, *judges, extra=("--retries", "0"))
        assert code == 1
        asked = dict(good.asked)
        with FakeProvider(reply=judge_reply(lambda _: 5), port=port):
            code, document, err = proctor(folder, "resume", "latest", "--json")
        assert code == 0, err
        assert {text: good.asked[text] for text in asked} == asked
    assert document["evaluations"][0]["scored"] == 12


def test_a_judge_that_fails_later_does_not_take_back_a_score(folder: Path) -> None:
    (folder / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\n"
        "scorers: [judge_rubric, {'python://fussy:mark': {}}]\n"
    )
    (folder / "fussy.py").write_text("def mark(sample, response):\n    raise RuntimeError('not today')\n")
    with FakeProvider(reply=judge_reply(mark_by_number)) as provider:
        judge = over_http(provider)
        _, document, err = run(folder, judge, extra=("--no-cache",))
        assert document["evaluations"][0]["metrics"]["accuracy"]["n"] == 12, err
    # The second scorer never scored, so resuming scores everything again; by now the judge is gone.
    _, document, _ = proctor(folder, "resume", "latest", "--retries", "0", "--json")
    assert document["evaluations"][0]["metrics"]["accuracy"]["n"] == 12
    with connected(folder / "home") as connection:
        rows = connection.execute("SELECT count(value) FROM scores WHERE scorer = 'judge_rubric'").fetchone()
    assert rows[0] == 12
