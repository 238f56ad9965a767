"""Plain completions against a server of the form that vLLM has, and one that does not echo."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from commands import Cli
from fakes.provider import FakeProvider
from models.asking import make
from proctor.benchmarks.registry import load_benchmark
from proctor.domain.errors import BenchmarkError, ModelUnavailableError, PlanError, RequestRejectedError
from proctor.domain.message import Message, Prompt
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.response import FinishReason, Response
from proctor.scorers.likelihood import create
from proctor.scorers.registry import create_scorer

TASK = """
task: capitals
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl, train: train.jsonl}}
output_type: multiple_choice
test_split: test
training_split: train
fewshot_split: train
doc_to_text: "Q: {{question}}\\nA:"
doc_to_choice: "{{choices}}"
doc_to_target: "{{answer}}"
"""
ROWS = [
    {"question": "the capital of France", "choices": ["Paris", "a very large city in the north", "Rome"], "answer": 0},
    {"question": "the capital of Italy", "choices": ["Bonn", "Rome"], "answer": 1},
]


def tokens_of(text: str) -> list[str]:
    return re.findall(r"\s?[^\s]+|\s+", text)


def logprob(before: str, token: str) -> float:
    """A model of sorts: a token's log-probability depends on it and on the one before."""
    return -1 - blake2b(f"{before}\0{token}".encode(), digest_size=2).digest()[0] / 32


def likelihood(context: str, continuation: str) -> float:
    """Worked out from the tokens directly, not through text offsets."""
    known, whole = tokens_of(context), tokens_of(context + continuation)
    assert whole[: len(known)] == known
    return sum(logprob(whole[at - 1], whole[at]) for at in range(len(known), len(whole)))


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, body))  # type: ignore[attr-defined]
        kind = self.server.kind  # type: ignore[attr-defined]
        if kind == "refuses" and body.get("echo"):
            return self._send(400, {"error": {"message": "Only no echo is supported", "type": "invalid_request_error"}})
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        choices = [self._choice(index, text, body, kind) for index, text in enumerate(prompts)]
        usage = {"prompt_tokens": sum(len(tokens_of(text)) for text in prompts), "completion_tokens": len(prompts)}
        answer = {"id": "cmpl-1", "object": "text_completion", "model": body["model"], "choices": choices[::-1]}
        return self._send(200, {**answer, "usage": usage})

    def _choice(self, index: int, prompt: str, body: dict[str, Any], kind: str) -> dict[str, Any]:
        is_echoed = body.get("echo") and kind == "echoes"
        known, added = tokens_of(prompt), [" more"]
        tokens = [*known, *added] if is_echoed else added
        values = [None, *(logprob(a, b) for a, b in pairwise(tokens))] if is_echoed else [-0.5]
        offsets, at = [], 0 if is_echoed else len(prompt)
        for token in tokens:
            offsets.append(at)
            at += len(token)
        told = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets, "top_logprobs": None}
        if kind == "ignores":  # as llama.cpp's server has it
            told = {"content": [{"token": " more", "logprob": -0.5, "top_logprobs": [{"token": " x", "logprob": -1}]}]}
        text = prompt + " more" if is_echoed else " more"
        return {
            "index": index, "text": text, "finish_reason": "length", "logprobs": told if body.get("logprobs") else None
        }  # fmt: skip

    def _send(self, status: int, document: Any) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Completions:
    def __init__(self, kind: str = "echoes") -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.kind, self._server.seen = kind, []  # type: ignore[attr-defined]
        self.seen: list[tuple[str, dict[str, Any]]] = self._server.seen  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def model(self) -> str:
        return f"completions/base-1b?base_url=http://127.0.0.1:{self._server.server_port}/v1"

    def ask(self, prompt: Prompt, **options: Any) -> Response:
        async def asked() -> Response:
            model = make(self.model, {})
            try:
                return await model.respond(prompt, options, timeout_seconds=30)
            finally:
                await model.close()

        return asyncio.run(asked())

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture(params=["echoes"])
def server(request: pytest.FixtureRequest) -> Iterator[Completions]:
    made = Completions(request.param)
    yield made
    made.close()


def question(text: str, *texts: str) -> Prompt:
    return Prompt((Message("user", text),), schema={"enum": list(texts)} if texts else None)


def test_whole_choices_get_the_sum_of_their_tokens(server: Completions) -> None:
    texts = (" Paris", " a very large city in the north", " Rome")
    response = server.ask(question("Q: the capital of France\nA:", *texts))
    expected = [likelihood("Q: the capital of France\nA:", text) for text in texts]
    assert [one.token for one in response.logprobs] == list(texts)
    assert [one.logprob for one in response.logprobs] == pytest.approx(expected, rel=1e-12)
    assert response.text == texts[expected.index(max(expected))]
    assert response.usage.input_tokens == sum(len(tokens_of("Q: the capital of France\nA:" + text)) for text in texts)
    [(path, body)] = server.seen
    assert path == "/v1/completions"
    assert {key: body[key] for key in ("echo", "logprobs", "max_tokens", "temperature")} == {
        "echo": True, "logprobs": 1, "max_tokens": 1, "temperature": 0,
    }  # fmt: skip


def test_blanks_at_the_end_of_a_prompt_belong_to_the_choice(server: Completions) -> None:
    [one] = server.ask(question("The answer: ", "Paris")).logprobs
    assert one.logprob == pytest.approx(likelihood("The answer:", " Paris"), rel=1e-12)


def test_a_prompt_without_choices_is_continued(server: Completions) -> None:
    response = server.ask(
        question("Once"), temperature=0, stop=["."], logprobs=True, top_logprobs=3, extra={"min_p": 0}
    )
    assert (response.text, response.finish_reason) == (" more", FinishReason.LENGTH)
    assert [one.token for one in response.logprobs] == [" more"]
    assert server.seen[0][1] == {
        "model": "base-1b", "prompt": "Once", "temperature": 0, "stop": ["."], "logprobs": 3, "min_p": 0,
    }  # fmt: skip


@pytest.mark.parametrize("server", ["ignores"], indirect=True)
def test_a_server_that_does_not_echo_is_refused_not_believed(server: Completions) -> None:
    with pytest.raises(ModelUnavailableError, match=r"does not echo the log-probabilities of a prompt.*vLLM"):
        server.ask(question("Q:", " a", " b"))


@pytest.mark.parametrize("server", ["ignores"], indirect=True)
def test_log_probabilities_of_the_other_form_are_read_too(server: Completions) -> None:
    [one] = server.ask(question("Once"), logprobs=True).logprobs
    assert (one.token, one.logprob, one.top) == (" more", -0.5, {" x": -1})


@pytest.mark.parametrize("server", ["refuses"], indirect=True)
def test_a_server_that_refuses_to_echo_says_so_itself(server: Completions) -> None:
    with pytest.raises(RequestRejectedError, match="Only no echo is supported"):
        server.ask(question("Q:", " a", " b"))


def test_a_schema_that_is_no_list_of_texts_is_refused(server: Completions) -> None:
    with pytest.raises(ModelUnavailableError, match="no tools and no schema"):
        server.ask(Prompt((Message("user", "?"),), schema={"type": "object"}))
    with pytest.raises(PlanError, match="write completions/NAME"):
        make("completions/?base_url=http://127.0.0.1:1/v1", {})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "task.yaml").write_text(TASK)
    for name in ("test", "train"):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def load(folder: Path, **parameters: Any) -> Any:
    spec = BenchmarkSpec.model_validate({"benchmark": "lm-eval:task.yaml", **parameters})
    return load_benchmark(spec, seed=0, folder=folder, data=None)


def test_a_harness_task_is_marked_by_likelihood_as_the_harness_does(server: Completions, folder: Path) -> None:
    benchmark = load(folder, choices="likelihood", shots=1)
    assert benchmark.description == "The harness task capitals, by the likelihood of the choices."
    scorers = [create_scorer(spec) for spec in benchmark.scorers]
    assert [scorer.name for scorer in scorers] == ["acc", "acc_norm"]
    for sample in benchmark.samples:
        prompt = benchmark.renderer.render(sample)
        assert prompt.text.endswith("\nA:")
        assert re.match(r"Q: the capital of \w+\nA: (Paris|Rome)\n\nQ:", prompt.text)
        response = server.ask(prompt)
        sums = [likelihood(prompt.text, f" {choice}") for choice in sample.choices]
        per_letter = [value / len(choice) for value, choice in zip(sums, sample.choices, strict=True)]
        gold = "ABC".index(sample.targets[0])
        for scorer, values in zip(scorers, (sums, per_letter), strict=True):
            score = asyncio.run(scorer.score(sample, response))
            assert score.value == float(values.index(max(values)) == gold)
            assert list(score.details["values"].values()) == pytest.approx(values, rel=1e-12)


def test_length_normalisation_changes_which_choice_wins(folder: Path) -> None:
    sample = next(iter(load(folder, choices="likelihood").samples))
    told = zip(sample.choices, (-4.0, -9.0, -7.0), strict=True)
    response = Response(" Paris", logprobs=tuple(_token(f" {choice}", value) for choice, value in told))
    plain, normalised = create(), create(normalise="length")
    assert asyncio.run(plain.score(sample, response)).answer == "A"
    assert asyncio.run(normalised.score(sample, response)).answer == "B"


def _token(text: str, value: float) -> Any:
    from proctor.domain.response import TokenLogprob

    return TokenLogprob(text, value)


def test_an_answer_without_likelihoods_gets_no_score(folder: Path) -> None:
    sample = next(iter(load(folder, choices="likelihood").samples))
    for response in (Response("Paris"), Response("A", logprobs=(_token("A", -0.1),))):
        score = asyncio.run(create().score(sample, response))
        assert score.value is None
        assert "did not score the whole choices" in score.reason


def test_a_task_says_how_it_was_asked_and_refuses_what_it_cannot_mark(folder: Path) -> None:
    assert load(folder).description == "The harness task capitals, asked by letter."
    assert load(folder).renderer.digest != load(folder, choices="likelihood").renderer.digest
    with pytest.raises(BenchmarkError, match="choices=words is unknown"):
        load(folder, choices="words")
    (folder / "task.yaml").write_text(TASK + "metric_list: [{metric: acc_norm}]\n")
    with pytest.raises(BenchmarkError, match=r"a letter has none\. Ask for them with \?choices=likelihood"):
        load(folder)
    assert [spec.options["label"] for spec in load(folder, choices="likelihood").scorers] == ["acc_norm"]


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_a_model_that_gives_no_likelihoods_is_refused_before_the_run(
    cli: Cli, provider: FakeProvider, asked_model: str, folder: Path, more: tuple[str, ...]
) -> None:
    ended = cli("run", f"lm-eval:{folder / 'task.yaml'}?choices=likelihood", "-m", asked_model, *more)
    assert ended.code == 2
    assert "capitals is scored by the likelihood of whole choices (acc, acc_norm), which openai/" in ended.error
    assert "does not give. Ask a model that does (completions/…" in ended.error
    assert provider.requests == []
    assert cli("runs", "--json").json == []


def test_the_same_task_asked_by_letter_takes_any_model(cli: Cli, asked_model: str, folder: Path) -> None:
    assert cli("run", f"lm-eval:{folder / 'task.yaml'}", "-m", asked_model, "--dry-run").code == 0


def test_a_model_that_scores_texts_is_accepted(cli: Cli, server: Completions, folder: Path) -> None:
    task = f"lm-eval:{folder / 'task.yaml'}?choices=likelihood"
    ran = cli("run", task, "-m", server.model, "--json")
    assert ran.json["status"] == "completed"
    again = cli("run", task, "-m", "replay/latest", "--json")
    assert again.json["evaluations"][0]["metrics"] == ran.json["evaluations"][0]["metrics"]
