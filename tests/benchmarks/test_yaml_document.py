"""YAML with lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, ValidationError

from proctor.domain.errors import BenchmarkError, PlanError, UserError
from proctor.domain.fields import InvalidValueError
from proctor.domain.plan import Plan
from proctor.yaml_document import as_mapping, explain, explain_value, load_yaml, mistakes


def test_every_part_has_its_line() -> None:
    document = load_yaml("a: 1\nb:\n  - x\n  - c: 2\n    d: [1,\n      2]\n")
    assert document.value == {"a": 1, "b": ["x", {"c": 2, "d": [1, 2]}]}
    lines = [document.line_of(place) for place in ((), ("a",), ("b",), ("b", 0), ("b", 1, "d"), ("b", 1, "d", 1))]
    assert lines == [1, 1, 2, 3, 5, 6]
    assert document.line_of(("b", 1, "not there")) == 4
    assert document.path_of(("b", 1, "d", 0)) == "b[1].d[0]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\nb: 2", r"<text>:2: this is not valid YAML"),
        ("a: 1\nb: 2\na: 3", r"<text>:3: 'a' is given twice \(first on line 1\)"),
        ("a: !!python/object/apply:os.system ['true']", r"<text>:1: this is not valid YAML: could not determine"),
        ("&a [*a]", "an alias refers to the very part it stands in"),
        ("[" * 5000, r"nested more than 60 levels deep"),
        ("a: " + "9" * 5000, "this is not valid YAML"),
        ("a: 2024-99-99", "this is not valid YAML"),
        ("--- 1\n--- 2", "expected a single document"),
        ("a: \x07", "this is not valid YAML"),
    ],
)
def test_a_mistake_is_one_line_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message) as error:
        load_yaml(text, error=PlanError)
    assert isinstance(error.value, PlanError)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "merge", ["[*{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}, *{0}]", "{{x: *{0}, y: *{0}, z: *{0}}}"]
)
def test_an_alias_bomb_does_not_go_off(merge: str) -> None:
    lines = ["a0: &a0 [1, 2, 3]"]
    lines += [f"a{n + 1}: &a{n + 1} {merge.format(f'a{n}')}" for n in range(40)]
    with pytest.raises(UserError, match="more than 100,000 values"):
        load_yaml("\n".join(lines))


def test_aliases_in_moderation_are_fine() -> None:
    assert load_yaml("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}").value["c"] == {"k": 1, "l": 2}


@given(st.text(max_size=200))
def test_no_text_fails_otherwise(text: str) -> None:
    message = ""
    try:
        load_yaml(text)
    except UserError as error:
        message = str(error)
    assert "\n" not in message


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="There is no file"):
        load_yaml(tmp_path / "no.yaml", error=BenchmarkError)
    with pytest.raises(UserError, match="cannot be read"):
        load_yaml(tmp_path)
    (tmp_path / "x.yaml").write_bytes(b"a: 1\nb: \xff")
    with pytest.raises(UserError, match=r"x\.yaml:2: this is not UTF-8"):
        load_yaml(tmp_path / "x.yaml")
    (tmp_path / "x.yaml").write_bytes(b"#" * 5_000_000)
    with pytest.raises(UserError, match="larger than"):
        load_yaml(tmp_path / "x.yaml")


def test_a_document_that_is_no_mapping_is_refused() -> None:
    for text in ("", "- a", "text"):
        with pytest.raises(UserError, match="a plan is a mapping"):
            as_mapping(load_yaml(text), "a plan")
    with pytest.raises(UserError, match=":2: the key 5 is not text"):
        as_mapping(load_yaml("a: 1\n5: 1"), "a plan")


PLAN = """\
models:
  - openai/x
  - {model: openai/y, temperature: hot}
benchmarks:
  - gsm8k
  - benchmark: mmlu
    limit: 0
limits:
  cost_usd: 5
  minuets: 3
"""


def test_the_mistakes_of_a_plan_are_shown_where_they_are() -> None:
    document = load_yaml(PLAN, name="plan.yaml")
    with pytest.raises(InvalidValueError) as error:
        Plan.model_validate(document.value)
    lines = mistakes(error.value, document, Plan)
    assert lines[0] == "plan.yaml:3: models[1].temperature: 'hot' is not a number."
    assert lines[1] == ("plan.yaml:7: benchmarks[1].limit: 0 cannot be used: it must be at least 1.")
    assert lines[2].startswith("plan.yaml:10: limits.minuets: there is no field 'minuets'. Did you mean 'minutes'?")
    assert "Allowed here: cost_usd, " in lines[2]
    text = explain(error.value, document, Plan)
    assert text.startswith(lines[0])
    assert text.endswith("(2 more mistakes in this file: lines 7, 10.)")


def test_a_missing_field_is_named() -> None:
    document = load_yaml("models: [openai/x]", name="plan.yaml")
    with pytest.raises(InvalidValueError) as error:
        Plan.model_validate(document.value)
    assert explain(error.value, document, Plan) == "plan.yaml:1: benchmarks: the field 'benchmarks' is missing."


class _Limited(BaseModel):
    share: float = Field(0.5, gt=0, le=1)
    names: list[str] = Field(["a"], min_length=1)
    word: str = Field("a", min_length=1, max_length=3, pattern="^[a-z]+$")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"share": 0}, "share: 0 cannot be used: it must be above 0."),
        ({"share": 2}, "share: 2 cannot be used: it must be at most 1."),
        ({"names": []}, "names: [] cannot be used: it must have at least 1 entry."),
        ({"word": ""}, "word: '' cannot be used: it must have at least 1 character."),
        ({"word": "abcd"}, "word: 'abcd' cannot be used: it must have at most 3 characters."),
        ({"word": "A"}, "word: 'A' cannot be used: it must match the pattern ^[a-z]+$."),
    ],
)
def test_a_limit_that_a_value_breaks_is_said_in_our_words(values: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        _Limited.model_validate(values)
    assert explain_value(caught.value, _Limited) == said
