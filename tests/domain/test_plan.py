"""Plans: what is written is kept exactly, and what cannot be meant is refused."""

from __future__ import annotations

import datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.domain.fields import Frozen, InvalidValueError
from proctor.domain.plan import BenchmarkSpec, Limits, ModelSpec, Plan, Sampling


def plan(**values: Any) -> Plan:
    return Plan.model_validate({"models": ["demo/strong"], "benchmarks": ["puzzles"], **values})


def refusal(kind: type[Frozen], value: object) -> str:
    with pytest.raises(InvalidValueError) as caught:
        kind.model_validate(value)
    first = caught.value.errors[0]
    return f"{kind.__name__}\n{'.'.join(map(str, first['loc']))}\n{first['msg']}"


def test_a_model_is_read_from_text_with_options_and_settings() -> None:
    spec = ModelSpec.model_validate(
        "openai/org/name?base_url=http://127.0.0.1:8080/v1&temperature=0&max_tokens=5&stop=END"
    )
    assert (spec.provider, spec.name) == ("openai", "org/name")
    assert spec.settings == {"base_url": "http://127.0.0.1:8080/v1"}
    assert spec.sampling.given() == {"temperature": 0, "max_tokens": 5, "stop": ["END"]}


@pytest.mark.parametrize(
    ("text", "kind", "value"), [("0", int, 0), ("0.0", float, 0.0), ("1e-3", float, 0.001), ("1", int, 1)]
)
def test_a_number_keeps_the_form_it_was_written_in(text: str, kind: type, value: float) -> None:
    for spec in (f"demo/strong?temperature={text}", {"model": "demo/strong", "temperature": kind(text)}):
        temperature = ModelSpec.model_validate(spec).sampling.temperature
        assert type(temperature) is kind
        assert temperature == value


def test_options_that_are_not_given_are_absent() -> None:
    assert Sampling().given() == {}
    assert Sampling(temperature=0).given() == {"temperature": 0}
    assert Sampling.model_validate({"logprobs": False, "seed": 0}).given() == {"logprobs": False, "seed": 0}


@pytest.mark.parametrize(
    "value",
    [
        {"temperature": True},
        {"temperature": "nan"},
        {"temperature": float("inf")},
        {"temperature": -0.1},
        {"top_p": 1.1},
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": 1.5},
        {"seed": 2**70},
        {"temperature": 2**70},
        {"extra": {"x": float("nan")}},
        {"extra": {"x": datetime.date(2026, 1, 1)}},
        {"extra": {True: 1}},
        {"extra": {"x": {None: 1}}},
        {"tempature": 1},
    ],
)
def test_a_value_that_cannot_be_sent_is_refused(value: dict[str, Any]) -> None:
    assert refusal(Sampling, value).splitlines()[1].partition(".")[0] == next(iter(value))


def test_keys_that_yaml_reads_as_numbers_become_text_as_in_json() -> None:
    sampling = Sampling.model_validate({"extra": {"logit_bias": {50256: -100}}})
    assert sampling.given() == {"extra": {"logit_bias": {"50256": -100}}}
    assert orjson.dumps(sampling.given())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'' is not a model: write provider/name"),
        ("demo", "'demo' is not a model: write provider/name"),
        ("/x", "'/x' is not a model: write provider/name"),
        ("demo/strong?temperature", "demo/strong: options are written ?name=value"),
        ("demo/x?a=1&a=2", "demo/x: 'a' is given twice"),
    ],
)
def test_text_that_is_no_model_is_refused(text: str, why: str) -> None:
    assert why in refusal(ModelSpec, text)


@pytest.mark.parametrize(
    "value",
    [
        "openai/x?api_key=abc",
        {"model": "openai/x", "X-Api-Key": "abc"},
        {"model": "openai/x", "authToken": "abc"},
        {"model": "openai/x", "extra": {"deep": [{"password": "abc"}]}},
        {"model": "openai/x", "headers": {"note": "Bearer abcdefghijk"}},
        "openai/x?label=sk-abcdefghijklmnop",
    ],
)
def test_a_secret_is_refused_and_not_repeated(value: object) -> None:
    with pytest.raises(InvalidValueError) as caught:
        ModelSpec.model_validate(value)
    (error,) = caught.value.errors
    assert "environment variable" in error["msg"]
    assert "abc" not in error["msg"]


def test_a_secret_for_all_models_is_refused_too() -> None:
    assert "environment variable" in refusal(
        Plan, {"models": ["demo/strong"], "benchmarks": ["x"], "sampling": {"extra": {"api_key": "abc"}}}
    )


@pytest.mark.parametrize("name", ["max_completion_tokens", "auth_variable", "keyboard", "monkey", "tokenizer"])
def test_names_that_only_sound_like_secrets_are_settings(name: str) -> None:
    assert ModelSpec.model_validate({"model": "openai/x", name: "y"}).settings == {name: "y"}


def test_a_benchmark_takes_its_own_parameters_beside_the_selection() -> None:
    spec = BenchmarkSpec.model_validate({"benchmark": "puzzles?level=3", "limit": 5, "where": {"category": "dates"}})
    assert (spec.benchmark, spec.parameters, spec.limit) == ("puzzles", {"level": "3"}, 5)
    assert spec.where == {"category": ["dates"]}
    assert BenchmarkSpec.model_validate("hf://a/b?c").benchmark == "hf://a/b?c"


def test_filters_may_be_written_as_numbers_and_booleans() -> None:
    spec = BenchmarkSpec.model_validate(
        {"benchmark": "x", "where": {"metadata.year": [2020, "2021"], "tags.hard": True}}
    )
    assert spec.where == {"metadata.year": ["2020", "2021"], "tags.hard": ["true"]}


def test_one_model_and_one_benchmark_need_no_list() -> None:
    single = Plan.model_validate({"models": "demo/strong", "benchmarks": {"benchmark": "puzzles", "limit": 3}})
    assert single == Plan.model_validate(
        {"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "limit": 3}]}
    )


@pytest.mark.parametrize(
    "values",
    [
        {"models": []},
        {"benchmarks": []},
        {"models": ["demo/strong", "demo/strong"]},
        {"benchmarks": ["a", "a"]},
        {"seed": 2**64},
        {"epochs": 0},
        {"nonsense": 1},
    ],
)
def test_a_plan_without_meaning_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        plan(**values)


def test_labels_are_short_where_that_is_enough() -> None:
    several = plan(
        models=[
            "demo/strong",
            "demo/weak?temperature=0",
            "demo/weak?temperature=1",
            {"model": "demo/average", "label": "mine"},
        ]
    )
    assert [several.label(spec) for spec in several.models] == [
        "demo/strong",
        "demo/weak?temperature=0",
        "demo/weak?temperature=1",
        "mine",
    ]


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("http://127.0.0.1:9000/ask", "http/127.0.0.1:9000/ask"),
        ("https://me:hush@host/@me/?token=hush#x", "http/host/@me"),
        ("http://[broken", "http/"),
    ],
)
def test_an_endpoint_is_called_by_its_address_without_secrets(url: str, label: str) -> None:
    spec = ModelSpec.model_validate({"model": "http/", "url": url})
    assert spec.short == label


def test_two_models_that_look_the_same_are_refused() -> None:
    same = [{"model": "demo/weak", "jitter": 1}, {"model": "demo/weak", "jitter": "1"}]
    assert "label of its own" in refusal(Plan, {"models": same, "benchmarks": ["x"]})


@pytest.mark.parametrize(
    "value",
    [
        {"minutes": 0},
        {"concurrency": 0},
        {"concurrency": 5000},
        {"retries": -1},
        {"cost_usd": 0},
        {"timeout_seconds": 0},
        {"minutes": "nan"},
    ],
)
def test_limits_that_limit_nothing_or_everything_are_refused(value: dict[str, Any]) -> None:
    assert refusal(Limits, value).splitlines()[1] == next(iter(value))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63) + 1, 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.just("x"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "temperature": st.integers(0, 2) | st.floats(0, 2),
            "top_p": st.floats(0, 1),
            "seed": st.integers(-5, 5),
            "stop": st.lists(st.text(max_size=3), max_size=2),
            "extra": st.dictionaries(st.sampled_from("abc"), json_values),
        },
    ),
    st.integers(1, 3),
)
def test_a_plan_survives_the_store_unchanged(sampling: dict[str, Any], epochs: int) -> None:
    before = plan(models=[{"model": "demo/strong", **sampling}], sampling=sampling, epochs=epochs)
    after = Plan.model_validate(orjson.loads(before.model_dump_json()))
    assert after == before
    assert repr(after.models[0].sampling.given()) == repr(before.models[0].sampling.given())
    assert after.sampling.given() == sampling


def test_a_number_of_any_size_is_sent_to_a_server_as_it_was_written() -> None:
    number = 2**70 + 1
    plan = Plan.model_validate({"models": ["demo/strong"], "benchmarks": [{"benchmark": "puzzles", "x": number}]})
    assert plan.as_json()["benchmarks"][0]["parameters"] == {"x": number}


def test_lists_and_mappings_can_be_written_in_a_query_string_and_written_again() -> None:
    text = 'openrouter/x?routing={"order":["a"]}&stop=a,b&stop=c&extra={"user":"me"}&logprobs=true&temperature=0'
    spec = ModelSpec.model_validate(text)
    assert spec.sampling.stop == ["a,b", "c"]
    assert spec.sampling.extra == {"user": "me"}
    assert ModelSpec.model_validate(str(spec)) == spec
    assert ModelSpec.model_validate('openai/x?stop=["d","e"]').sampling.stop == ["d", "e"]
    assert ModelSpec.model_validate("openai/x?stop=[d").sampling.stop == ["[d"]


def test_a_function_that_makes_a_benchmark_takes_parameters_and_an_address_keeps_its_own() -> None:
    function = BenchmarkSpec.model_validate("python://m:f?level=2&limit=3")
    assert (function.benchmark, function.parameters, function.limit) == ("python://m:f", {"level": "2"}, 3)
    assert BenchmarkSpec.model_validate("hf://a/b?split=test").benchmark == "hf://a/b?split=test"
