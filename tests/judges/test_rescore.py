"""Stored responses are scored again; the model that gave them is not asked, and nothing is thrown away."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from commands import ended
from fakes.dialect import Ask, Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import UserError
from proctor.planning.scorer_text import read_scorer
from proctor.stores.scores import ScoreStore
from runs.arithmetic import kill, start, wait_for
from stores.parts import connected, new_database

FORMAT = re.compile(r"^VERDICT ([0-9a-f]{16}): VALUE$", re.MULTILINE)
QUESTIONS = 40


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of forty questions, every fourth answer in capitals; its model cannot be asked again."""
    folder = tmp_path_factory.mktemp("finished")
    rows = [{"id": f"q{n}", "input": f"Say x{n}", "target": f"x{n}"} for n in range(QUESTIONS)]
    (folder / "open.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [exact]\n"
    )
    (folder / "talk.py").write_text(
        "def answer(prompt: str) -> str:\n    word = prompt.split()[-1]\n"
        "    return word.upper() if int(word[1:]) % 4 == 0 else word\n"
    )
    code, _, err = proctor(folder, "run", "open.yaml", "-m", "python/talk:answer", "--json")
    assert code == 0, err
    (folder / "talk.py").unlink()
    (folder / "open.yaml").unlink()
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return copytree(finished, tmp_path / "work")


def proctor(folder: Path, *arguments: str) -> tuple[int, Any, str]:
    code, out, err = ended(folder / "home", folder, *arguments)
    return code, json.loads(out) if "--json" in arguments and out else out, err


def rescore(folder: Path, *arguments: str) -> tuple[int, Any, str]:
    return proctor(folder, "rescore", "latest", *arguments, "--json")


def accuracy(folder: Path) -> dict[str, Any]:
    code, document, err = proctor(folder, "show", "latest", "--json")
    assert code == 0, err
    found: dict[str, Any] = document["evaluations"][0]["metrics"]["accuracy"]
    return found


def stored(folder: Path) -> dict[tuple[str, str], int]:
    with connected(folder / "home") as connection:
        rows = connection.execute("SELECT scorer, version, count(value) FROM scores GROUP BY scorer, version")
        return {(scorer, version): count for scorer, version, count in rows}


def judge_reply(value: Callable[[str], object]) -> Callable[[Ask], Reply]:
    return lambda ask: Reply(f"Well.\n\nVERDICT {FORMAT.findall(ask.text)[-1]}: {value(ask.text)}")


def over_http(provider: FakeProvider, more: str = "") -> str:
    return f"openai/judge?base_url={provider.url}/v1{more}"


def test_new_scores_count_and_old_ones_are_kept(folder: Path) -> None:
    assert accuracy(folder)["value"] == 0.75
    code, document, err = rescore(folder, "--scorer", "exact:ignore_case=true")
    assert code == 0, err
    [evaluation] = document["evaluations"]
    assert evaluation["before"]["exact"]["metrics"]["accuracy"]["value"] == 0.75
    assert evaluation["after"]["exact"]["metrics"]["accuracy"]["value"] == 1.0
    [change] = evaluation["changes"]
    assert (change["compared"], change["changed"], change["higher"], change["lower"]) == (40, 10, 10, 0)
    assert document["in_force"]
    assert accuracy(folder)["value"] == 1.0, "the numbers kept from before are not forgotten"
    assert sorted(stored(folder).values()) == [40, 40]


def test_keep_only_adds(folder: Path) -> None:
    code, document, err = rescore(folder, "--scorer", "exact:ignore_case=true", "--keep")
    assert code == 0, err
    assert not document["in_force"]
    assert document["evaluations"][0]["after"]["exact"]["metrics"]["accuracy"]["value"] == 1.0
    assert accuracy(folder)["value"] == 0.75
    assert len(stored(folder)) == 2


def test_scores_can_be_chosen_by_name_and_version_without_scoring(folder: Path) -> None:
    rescore(folder, "--scorer", "exact:ignore_case=true")
    code, _, err = rescore(folder, "--use", "exact")
    assert code == 2
    assert "add the version" in err
    code, document, err = rescore(folder, "--use", "exact@4")
    assert code == 0, err
    assert document["evaluations"][0]["changes"][0]["lower"] == 10
    assert accuracy(folder)["value"] == 0.75
    code, _, err = rescore(folder, "--use", "numeric")
    assert code == 2
    assert "exact@4" in err


def test_scoring_again_by_the_same_scorer_scores_nothing(folder: Path) -> None:
    code, document, err = rescore(folder, "--scorer", "exact")
    assert code == 0, err
    [evaluation] = document["evaluations"]
    assert (evaluation["already_scored"], evaluation["changes"]) == (40, [])
    _, shown, _ = ended(folder / "home", folder, "rescore", "latest", "--scorer", "exact")
    assert "40 responses had these scores already: not scored again." in shown
    assert "These scores were in force before." in shown


def test_several_scorers_and_a_function_of_ones_own(folder: Path) -> None:
    (folder / "marks.py").write_text(
        "def long_enough(sample, response, at_least=2):\n    return len(response.text) >= at_least\n"
    )
    code, document, err = rescore(
        folder, "--scorer", "includes", "--scorer", "python://marks:long_enough:at_least=3"
    )  # fmt: skip
    assert code == 0, err
    after = document["evaluations"][0]["after"]
    assert list(after) == ["includes", "long_enough"]
    assert after["long_enough"]["metrics"]["accuracy"]["value"] == 0.75
    code, shown, _ = proctor(folder, "show", "--json")
    assert set(shown["evaluations"][0]["metrics"]) == {"accuracy", "long_enough.accuracy"}


def test_a_judge_scores_stored_responses_and_is_cached(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(lambda text: "CORRECT" if "\nX" in text else "INCORRECT")) as provider:
        judge = ("--judge", over_http(provider))
        code, document, err = rescore(folder, "--scorer", "judge_reference", *judge)
        assert code == 0, err
        assert document["evaluations"][0]["after"]["judge_reference"]["metrics"]["accuracy"]["value"] == 0.25
        # Another name is another set of scores, but the same questions to the judge.
        rescore(folder, "--scorer", "judge_reference:name=again", *judge)
        assert sum(provider.asked.values()) == QUESTIONS
        code, document, _ = rescore(folder, "--scorer", "judge_reference:name=anew", *judge, "--no-cache")
        assert sum(provider.asked.values()) == 2 * QUESTIONS
    with connected(folder / "home") as connection:
        [(attempts,)] = connection.execute("SELECT count(*) FROM responses").fetchall()
    assert attempts == QUESTIONS


def test_a_killed_rescore_goes_on_where_it_stopped_and_changes_nothing_before_its_end(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(lambda _: 3), latency_seconds=0.1) as provider:
        command = (
            "rescore",
            "latest",
            "--scorer",
            "judge_rubric",
            "--judge",
            over_http(provider),
            "--concurrency",
            "2",
        )
        process = start(folder / "home", folder, *command, "--json")
        wait_for(lambda: sum(stored(folder).values()) > QUESTIONS + 3 or process.poll() is not None)
        assert process.poll() is None, "the command ended before it could be killed"
        kill(process)
        assert accuracy(folder)["value"] == 0.75
        done = {key: count for key, count in stored(folder).items() if key[0] == "judge_rubric"}
        [already] = done.values()
        assert 3 < already < QUESTIONS
        asked_when_killed = dict(provider.asked)
        with connected(folder / "home") as connection:
            [(cached,)] = connection.execute("SELECT count(*) FROM cache").fetchall()
        code, document, err = proctor(folder, *command, "--json")
        assert code == 0, err
        again = sum(provider.asked[text] for text in asked_when_killed) - sum(asked_when_killed.values())
    # Only requests whose answer never reached the store may be sent a second time.
    assert again <= sum(asked_when_killed.values()) - cached
    [evaluation] = document["evaluations"]
    assert evaluation["already_scored"] == already
    assert accuracy(folder)["value"] == 0.5


def test_a_judge_that_is_down_leaves_the_old_scores_in_force(folder: Path) -> None:
    with FakeProvider() as gone:
        port = gone.port
    judge = ("--judge", f"openai/judge?base_url=http://127.0.0.1:{port}/v1", "--retries", "0")
    code, document, err = rescore(folder, "--scorer", "judge_rubric", *judge)
    assert code == 1
    assert f"judge openai/judge: {QUESTIONS} without a reply" in err
    assert "onnection refused" in err
    assert (document["in_force"], document["is_complete"]) == (False, False)
    assert document["evaluations"][0]["after"]["judge_rubric"]["metrics"]["accuracy"]["value"] is None
    assert accuracy(folder)["value"] == 0.75
    with FakeProvider(reply=judge_reply(lambda _: 5), port=port):
        code, document, err = rescore(folder, "--scorer", "judge_rubric", *judge)
    assert code == 0, err
    assert accuracy(folder) == {**accuracy(folder), "value": 1.0, "n": QUESTIONS}


def test_requests_without_a_reply_keep_the_old_scores_in_force_until_the_user_says_otherwise(
    folder: Path,
) -> None:
    with FakeProvider(Faults(rates={"400": 0.3}), reply=judge_reply(lambda _: 5)) as provider:
        code, document, err = rescore(folder, "--scorer", "judge_rubric", "--judge", over_http(provider))
    assert code == 1, err
    after = document["evaluations"][0]["after"]["judge_rubric"]
    assert 0 < after["unscored"] < QUESTIONS
    assert after["scored"] == QUESTIONS - after["unscored"]
    assert accuracy(folder)["value"] == 0.75
    code, _, err = rescore(folder, "--use", "judge_rubric")
    assert code == 0, err
    assert accuracy(folder) == {**accuracy(folder), "value": 1.0, "n": after["scored"]}


def test_a_scorer_that_measures_nothing_is_not_put_in_force(folder: Path) -> None:
    (folder / "broken.py").write_text("def mark(sample, response):\n    raise RuntimeError('oh')\n")
    code, document, err = rescore(folder, "--scorer", "python://broken:mark")
    assert code == 1
    assert re.search(r"scored no response: .*oh", err)
    assert not document["in_force"]
    assert accuracy(folder)["value"] == 0.75


def test_a_cost_limit_stops_the_judges(folder: Path) -> None:
    def dear(ask: Ask) -> Reply:
        reply = judge_reply(lambda _: 5)(ask)
        return Reply(reply.text, input_tokens=2_000, output_tokens=250)

    with FakeProvider(reply=dear) as provider:
        judge = ("--judge", over_http(provider, "&max_tokens=300"), "--concurrency", "1")
        code, document, err = rescore(
            folder, "--scorer", "judge_rubric", *judge, "--max-cost", "0.02", "--assume-price", "1/2"
        )
        assert 0 < sum(provider.asked.values()) * 0.0025 <= 0.02
    assert code == 1
    assert "cost limit" in err
    assert document["is_out_of_money"]
    assert accuracy(folder)["value"] == 0.75


def test_a_cost_limit_that_allows_no_request_does_not_claim_to_have_been_reached(folder: Path) -> None:
    with FakeProvider(reply=judge_reply(lambda _: 5)) as provider:
        judge = ("--judge", over_http(provider, "&max_tokens=300"))
        limits = ("--max-cost", "0.000001", "--assume-price", "1/2")
        code, document, err = rescore(folder, "--scorer", "judge_rubric", *judge, *limits)
        assert not provider.asked
    assert code == 1
    assert document["is_out_of_money"]
    assert "the cost limit of $0.000001 allows no request: the first request could cost up to $0.0" in err
    assert "--max-cost USD" in err


def test_two_runs_are_compared_answer_by_answer(folder: Path) -> None:
    first = proctor(folder, "show", "--json")[1]["run_id"]
    (folder / "open.yaml").write_text(
        "name: open\ndataset: {source: open.jsonl}\nprompt: {user: '{{ input }}'}\nscorers: [exact]\n"
    )
    (folder / "talk.py").write_text("def loud(prompt: str) -> str:\n    return prompt.split()[-1].upper()\n")
    code, _, err = proctor(folder, "run", "open.yaml", "-m", "python/talk:loud", "--limit", "30", "--json")
    assert code == 0, err

    def prefer_small(text: str) -> str:
        found = re.search(r'part="answer A">\n(\w+)', text)
        assert found is not None
        return "A" if found[1].islower() else "B"

    with FakeProvider(reply=judge_reply(prefer_small)) as provider:
        code, document, err = rescore(
            folder, "--scorer", f"judge_pairwise:against={first}", "--judge", over_http(provider)
        )
        assert code == 0, err
    after = document["evaluations"][0]["after"]["judge_pairwise"]
    # The other run's answers are in small letters but for a quarter, where both are the same and it is a tie.
    ties = sum(int(sample[1:]) % 4 == 0 for sample in limited(folder))
    assert after["metrics"]["accuracy"]["value"] == pytest.approx(0.5 * ties / 30)
    assert after["judges"]["openai/judge"]["requests"] == 2 * (30 - ties)
    # The other way round, ten of the forty samples have nothing to be compared with.
    second = document["run_id"]
    with FakeProvider(reply=judge_reply(prefer_small)) as provider:
        against = ("--scorer", f"judge_pairwise:against={second}", "--judge", over_http(provider))
        code, document, err = proctor(folder, "rescore", first, *against, "--json")
    assert code == 0, err
    after = document["evaluations"][0]["after"]["judge_pairwise"]
    assert (after["scored"], after["unscored"]) == (30, 10)
    assert after["metrics"]["accuracy"]["n"] == 30


def limited(folder: Path) -> list[str]:
    with connected(folder / "home") as connection:
        newest = "(SELECT id FROM runs ORDER BY created_at DESC LIMIT 1)"
        rows = connection.execute(
            "SELECT sample_id FROM responses JOIN evaluations ON evaluations.id = evaluation_id "
            f"WHERE run_id = {newest}"
        )
        return [row[0] for row in rows]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--scorer", "program"), "program would run what was answered, which rescoring does not do"),
        (("--scorer", "humaneval"), "humaneval would run what was answered"),
        (("--scorer", "exat"), "Did you mean 'exact'"),
        (("--scorer", "exact:ignore_cas=true"), "Did you mean 'ignore_case'"),
        (("--scorer", "exact:ignore_case"), "key=value"),
        (("--scorer", "exact:{nonsense"), "not valid JSON"),
        (("--scorer", "exact", "--scorer", "exact:ignore_case=true"), "both be called 'exact'"),
        (("--scorer", "judge_rubric"), "--judge"),
        (("--scorer", "exact", "--on", "opn"), "Did you mean 'open'"),
        (("--scorer", "judge_pairwise:against=zzz", "--judge", "demo/strong"), "No run 'zzz'"),
        (("--scorer", "exact", "--use", "exact"), "either --scorer"),
        ((), "either --scorer"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    before = stored(folder)
    code, out, err = rescore(folder, *arguments)
    assert (code, out["exit_code"]) == (2, 2)
    assert message in out["error"]
    assert message in err
    assert "Traceback" not in err
    assert stored(folder) == before


def test_people_see_old_and_new_side_by_side(folder: Path) -> None:
    code, out, err = proctor(folder, "rescore", "latest", "--scorer", "exact:ignore_case=true")
    assert code == 0, err
    assert re.search(r"old\s+exact@4\s+0\.750", out)
    assert re.search(r"new\s+exact@4\+\w+\s+1\.000", out)
    assert "10 of 40 scores changed: 10 higher, 0 lower (exact against exact)." in out


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("exact", ScorerSpec("exact")),
        ("exact:ignore_case=true", ScorerSpec("exact", {"ignore_case": True})),
        ("numeric:tolerance=0.5,unit=km", ScorerSpec("numeric", {"tolerance": 0.5, "unit": "km"})),
        ('f1:{"after": "a, b: c", "n": 7}', ScorerSpec("f1", {"after": "a, b: c", "n": 7})),
        ("python://m:f", ScorerSpec("python://m:f")),
        ("python://m:f:n=2", ScorerSpec("python://m:f", {"n": 2})),
    ],
)  # fmt: skip
def test_a_scorer_is_written_with_its_options(text: str, spec: ScorerSpec) -> None:
    assert read_scorer(text) == spec


def test_a_scorer_without_a_name_is_refused() -> None:
    with pytest.raises(UserError, match="names no scorer"):
        read_scorer(":x=1")


def test_responses_are_read_a_page_at_a_time(folder: Path) -> None:
    database = new_database(folder / "home")
    store = ScoreStore(database)
    seen, after = [], 0
    while page := store.unscored(1, {"numeric": "9"}, after=after, limit=7):
        assert len(page) <= 7
        after = page[-1].response_id or 0
        seen += [answer.trial.sample.id for answer in page]
    database.dispose()
    assert sorted(seen) == sorted(f"q{n}" for n in range(QUESTIONS))


def test_the_scorer_in_force_and_the_rescore_it_came_from_are_named(folder: Path) -> None:
    def shown(*command: str) -> str:
        code, out, err = proctor(folder, *command)
        assert code == 0, err
        return " ".join(f"{out}\n{err}".split())

    def evaluation() -> dict[str, Any]:
        found: dict[str, Any] = proctor(folder, "show", "--json")[1]["evaluations"][0]
        return found

    before = evaluation()["scorers"]
    assert (list(before), evaluation()["rescored"]) == (["exact"], None)
    for command in (("show",), ("samples", "-n", "1")):
        assert f"Scored by exact@{before['exact']}." in shown(*command)
    rescore(folder, "--scorer", "includes:ignore_case=true")
    [name] = evaluation()["scorers"]
    version = evaluation()["scorers"][name]
    assert name == "includes"
    assert evaluation()["rescored"]["replaced"] == before
    for command in (("show",), ("samples", "-n", "1"), ("report", "-f", "md"), ("report", "-f", "html")):
        text = shown(*command)
        assert f"scored by includes@{version}, in a rescore of " in text
        assert f"(before by exact@{before['exact']})" in text
    _, rows, _ = proctor(folder, "samples", "-n", "1", "--json")
    assert rows[0]["scores"]["includes"]["version"] == version
    rescore(folder, "--use", "exact")
    assert (evaluation()["scorers"], evaluation()["rescored"]) == (before, None)
    rescore(folder, "--scorer", "numeric", "--keep")
    assert evaluation()["rescored"] is None
