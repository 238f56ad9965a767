"""A provider that misbehaves in every way at once."""

from __future__ import annotations

import json
from pathlib import Path

from commands import Cli, ended
from fakes.dialect import Reply
from fakes.faults import Faults
from fakes.provider import FakeProvider
from runs.arithmetic import provider_process, stats, write_benchmark

RATES = ("429=0.05", "429-bare=0.05", "500=0.05", "drop=0.02", "truncate=0.01", "stall=0.005")


def rates() -> list[str]:
    return [word for rate in RATES for word in ("--rate", rate)]


def test_a_run_completes_through_faults_and_counts_none_as_a_wrong_answer(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 600)
    with provider_process(*rates(), "--max-faults", "3", "--retry-after", "0.2", "--latency-ms", "5") as url:
        model = f"openai/sums?base_url={url}/v1"
        code, out, err = ended(tmp_path / "home", tmp_path, "run", "sums.yaml", "-m", model, "--timeout", "2", "--json")
        met = stats(url)["faults"]
    assert code == 0, err
    [evaluation] = json.loads(out)["evaluations"]
    assert evaluation["scored"] == 600
    assert evaluation["metrics"]["accuracy"]["value"] == 1.0
    assert {"429", "429-bare", "500", "drop", "truncate", "stall"} <= set(met), "the provider did not misbehave"


def test_faults_that_outlive_the_retries_are_failed_and_in_no_denominator(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 200)
    home = tmp_path / "home"
    with provider_process("--rate", "500=0.3", "--latency-ms", "2") as url:
        model = f"openai/sums?base_url={url}/v1"
        code, out, err = ended(home, tmp_path, "run", "sums.yaml", "-m", model, "--retries", "0", "--json")
        assert code == 0, err
        document = json.loads(out)
        [evaluation] = document["evaluations"]
        failed = evaluation["failed"]
        assert 30 < failed < 90
        assert evaluation["scored"] == 200 - failed
        accuracy = evaluation["metrics"]["accuracy"]
        assert (accuracy["value"], accuracy["n"]) == (1.0, 200 - failed)

        # Resuming tries exactly the failed ones again; the earlier attempts are kept.
        before = stats(url)["asked"]
        code, out, err = ended(home, tmp_path, "resume", document["run_id"], "--retries", "8", "--json")
        assert code == 0, err
        [evaluation] = json.loads(out)["evaluations"]
        assert (evaluation["scored"], evaluation["failed"]) == (200, 0)
        assert stats(url)["asked"] - before >= failed
    code, out, _ = ended(home, tmp_path, "export", "latest", "--all-attempts")
    assert len(out.splitlines()) == 200 + failed


def test_a_provider_that_is_not_there_is_said_once_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 50)
    home = tmp_path / "home"
    with provider_process() as url:
        pass
    model = f"openai/sums?base_url={url}/v1"
    code, out, err = ended(home, tmp_path, "run", "sums.yaml", "-m", model, "--json")
    document = json.loads(out)
    assert code == 1
    assert document["status"] == "failed"
    assert "onnection refused" in document["error"]
    assert "Traceback" not in err
    [evaluation] = document["evaluations"]
    assert evaluation["metrics"]["accuracy"]["value"] is None
    port = url.rpartition(":")[2]
    with provider_process("--port", port):
        code, out, err = ended(home, tmp_path, "resume", document["run_id"], "--json")
    assert code == 0, err
    assert json.loads(out)["evaluations"][0]["scored"] == 50


def test_a_wrong_answer_is_wrong_and_an_unreadable_one_is_invalid(tmp_path: Path) -> None:
    (tmp_path / "answers.py").write_text(
        "def answer(prompt: str) -> str:\n"
        "    number = int(prompt.split()[2])\n"
        "    if number % 4 == 1:\n        return 'I would rather not say.'\n"
        "    return str(number + number % 7) if number % 4 else '-1'\n"
    )
    write_benchmark(tmp_path, 100)
    code, out, err = ended(tmp_path / "home", tmp_path, "run", "sums.yaml", "-m", "python/answers:answer", "--json")
    assert code == 0, err
    [evaluation] = json.loads(out)["evaluations"]
    assert (evaluation["scored"], evaluation["invalid"], evaluation["failed"]) == (75, 25, 0)
    assert evaluation["metrics"]["accuracy"]["value"] == 0.5
    assert evaluation["metrics"]["accuracy"]["n"] == 100


class RefusesLongAnswers(Faults):
    """Refuses what follows an answer that was long."""

    def of(self, prompt: str, attempt: int) -> str | None:
        return "400" if "long" in prompt and "Sure?" in prompt else None


def test_an_answer_that_its_provider_does_not_take_back_is_scored(cli: Cli) -> None:
    """It is neither failed nor out of the denominator: such answers were, so a model gained by writing too much."""
    rows = [
        {"input": f"How much is {n} + 1?", "target": str(n + 1), "follow_ups": [f"Sure? {kind}"]}
        for n, kind in enumerate(["long"] * 3 + ["short"] * 3)
    ]
    Path("talk.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("talk.yaml").write_text(
        "name: talk\ndataset: {source: talk.jsonl, fields: {follow_ups: follow_ups}}\nscorers: [numeric]\n"
    )
    with FakeProvider(RefusesLongAnswers(), reply=lambda ask: Reply("ANSWER: 3")) as provider:
        ended = cli("run", "talk.yaml", "-m", f"openai/m?base_url={provider.url}/v1", "--json")
    assert ended.code == 0, ended.err
    [evaluation] = ended.json["evaluations"]
    assert (evaluation["scored"], evaluation["failed"]) == (6, 0)
    assert evaluation["metrics"]["accuracy"]["n"] == 6
    answers = [json.loads(row) for row in cli("export", "latest", "-f", "jsonl").out.splitlines()]
    refused = [row for row in answers if "follow-up 1 was refused" in json.dumps(row)]
    assert len(refused) == 3
