"""Keys: equal exactly when nothing that can change the answer differs."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proctor.domain.identity import KEY_VERSION, CacheKeys, TrialIds, canonical, digest
from proctor.domain.message import DocumentPart, Image, Message, Prompt, Text
from proctor.domain.model import ModelIdentity

KNOWN_KEY = "052ddc59907415a9cb77bf4eed01c5e9"


@dataclass(frozen=True)
class Request:
    """Everything that decides an answer."""

    model: ModelIdentity
    options: dict[str, Any]
    prompt: Prompt
    follow_ups: tuple[str, ...]
    epoch: int

    @property
    def key(self) -> str:
        return CacheKeys(self.model, self.options).of(self.prompt, self.follow_ups, self.epoch)


def tagged(value: Any) -> Any:
    """A value with the type of everything in it: unlike Python, it tells 0 from 0.0, False and '0'."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, tuple((field.name, tagged(getattr(value, field.name))) for field in fields(value))
    if isinstance(value, dict):
        return "dict", tuple(sorted((key, tagged(part)) for key, part in value.items()))
    if isinstance(value, list | tuple):
        return "list", tuple(tagged(part) for part in value)
    if isinstance(value, float):
        return "float", value.hex()
    return type(value).__name__, value


# A few short texts, so that two draws are often almost the same.
words = st.sampled_from(["", "a", "b", "ab", "0", "1", "null", "[]", '"', "\\", "\n", "é", "e\u0301", "\x00", "😀"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**63 - 1]),
    st.sampled_from([0.0, -0.0, 1.0, 0.1, 1e300]),
    words,
)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2), max_leaves=4
)
mappings = st.dictionaries(words, json_values, max_size=3)
data = st.sampled_from([b"", b"\x00", b"\x00\x00", b"0"])
parts = st.one_of(
    st.builds(Text, words),
    st.builds(Image, data, words),
    st.builds(DocumentPart, data, words, st.sampled_from(["document", "a"])),
)
messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    words | st.lists(parts, max_size=2).map(tuple),
)
prompts = st.builds(
    Prompt,
    st.lists(messages, max_size=3).map(tuple),
    st.lists(mappings, max_size=2).map(tuple),
    st.none() | mappings,
)
identities = st.builds(ModelIdentity, words, words, st.none() | words, words)
requests = st.builds(Request, identities, mappings, prompts, st.lists(words, max_size=2).map(tuple), st.integers(0, 2))


@given(requests, requests)
def test_two_requests_share_a_key_exactly_when_they_are_the_same(one: Request, other: Request) -> None:
    assert (one.key == other.key) is (tagged(one) == tagged(other))


@given(requests, requests, st.sampled_from([field.name for field in fields(Request)]))
def test_changing_any_one_part_changes_the_key(one: Request, other: Request, name: str) -> None:
    changed = replace(one, **{name: getattr(other, name)})
    assume(tagged(changed) != tagged(one))
    assert changed.key != one.key


@given(requests, identities, st.sampled_from([field.name for field in fields(ModelIdentity)]))
def test_changing_any_part_of_the_model_changes_the_key(one: Request, other: ModelIdentity, name: str) -> None:
    model = replace(one.model, **{name: getattr(other, name)})
    assume(model != one.model)
    assert replace(one, model=model).key != one.key


@given(requests, words, scalars, scalars)
def test_an_option_given_differs_from_absent_and_from_every_other_value(
    one: Request, name: str, first: Any, second: Any
) -> None:
    without = {key: value for key, value in one.options.items() if key != name}
    absent = replace(one, options=without)
    given_first = replace(one, options={**without, name: first})
    given_second = replace(one, options={**without, name: second})
    assert absent.key != given_first.key
    assert (given_first.key == given_second.key) is (tagged(first) == tagged(second))


@pytest.mark.parametrize("name", ["temperature", "top_p", "seed", "stop", "extra"])
def test_0_and_0_0_and_text_and_false_and_none_and_absent_are_six_things(name: str) -> None:
    model, prompt = ModelIdentity("openai", "x", "http://h/v1", "1"), Prompt((Message("user", "hi"),))
    options: list[dict[str, Any]] = [{}, {name: 0}, {name: 0.0}, {name: "0"}, {name: False}, {name: None}]
    assert len({CacheKeys(model, option).of(prompt, (), 0) for option in options}) == 6


@given(requests)
def test_a_key_does_not_depend_on_the_order_options_were_written_in(one: Request) -> None:
    backwards = dict(reversed(one.options.items()))
    assert replace(one, options=backwards).key == one.key


def test_a_key_is_the_same_on_every_machine_and_in_every_version() -> None:
    """A fixed value: a change of it makes every cache of every user worthless, and must be meant."""
    prompt = Prompt((Message("user", (Text("What is this?"), Image(b"\x89PNG", "image/png"))),))
    keys = CacheKeys(ModelIdentity("openai", "gpt", "https://api.openai.com/v1", "1"), {"temperature": 0})
    assert keys.of(prompt, (), 0) == KNOWN_KEY


@given(st.lists(st.tuples(words, st.integers(0, 3)), min_size=2, max_size=2, unique=True))
def test_trials_of_one_evaluation_have_different_ids(two: list[tuple[str, int]]) -> None:
    ids = TrialIds(ModelIdentity("demo", "strong", None, "1"), "puzzles@x/y", {})
    assert ids.of(*two[0]) != ids.of(*two[1])


@given(identities, identities, words, words, mappings, mappings)
def test_trials_of_different_evaluations_have_different_ids(
    model: ModelIdentity, other: ModelIdentity, benchmark: str, another: str, options: Any, more: Any
) -> None:
    one, two = TrialIds(model, benchmark, options).of("a", 0), TrialIds(other, another, more).of("a", 0)
    assert (one == two) is (tagged([model, benchmark, options]) == tagged([other, another, more]))


def test_trial_ids_and_cache_keys_never_meet() -> None:
    model = ModelIdentity("demo", "strong", None, "1")
    prompt = Prompt((Message("user", "hi"),))
    assert TrialIds(model, "b", {}).of("a", 0) != CacheKeys(model, {}).of(prompt, (), 0)


def test_what_has_no_canonical_form_is_refused() -> None:
    with pytest.raises(TypeError):
        canonical({"x": object()})
    assert digest({"b": 1, "a": [1, 2]}) == digest({"a": (1, 2), "b": 1})


@given(
    st.lists(st.builds(Message, st.sampled_from(["system", "user"]), st.text())),
    st.lists(st.text()),
    st.integers(0, 2**53),
)
def test_a_request_of_text_has_the_key_of_its_canonical_form(messages, follow_ups, epoch):
    model, prompt = ModelIdentity("openai", "gpt", None, "1"), Prompt(tuple(messages))
    whole = blake2b(canonical(["request", KEY_VERSION, model, {}]), digest_size=16)
    whole.update(canonical([prompt, tuple(follow_ups), epoch]))
    assert CacheKeys(model, {}).of(prompt, tuple(follow_ups), epoch) == whole.hexdigest()
