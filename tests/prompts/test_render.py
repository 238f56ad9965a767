"""Samples become prompts."""

from __future__ import annotations

import pytest

from proctor.domain.errors import BenchmarkError
from proctor.domain.message import Message, Prompt
from proctor.domain.sample import Sample
from proctor.prompts.choices import lay_out
from proctor.prompts.render import TemplateRenderer


def test_without_a_template_the_input_is_the_prompt() -> None:
    assert TemplateRenderer().render(Sample("1", "Hi {{ x }}\n")) == Prompt((Message("user", "Hi {{ x }}\n"),))


def test_without_a_template_choices_are_laid_out_and_the_letter_is_asked_for() -> None:
    text = TemplateRenderer(layout="(A)").render(Sample("1", "Which?", "A", ("x", "y"))).text
    assert text == "Which?\n\n(A) x\n(B) y\n\nAnswer with the letter of the right choice."


@pytest.mark.parametrize(("layout", "line"), [("A.", "B. y"), ("A)", "B) y"), ("(A)", "(B) y"), ("A:", "B: y")])
def test_each_layout_is_an_example_of_itself(layout: str, line: str) -> None:
    assert lay_out(["x", "y"], layout).splitlines()[1] == line  # type: ignore[arg-type]


def test_templates_see_the_sample_and_the_datas_own_names() -> None:
    renderer = TemplateRenderer(
        user="{{ question }}|{{ category }}|{{ hint }}|{{ metadata.hint }}|{{ tags.level }}|{{ letters | join('/') }}",
        system="Be brief, {{ id }}.",
        aliases={"question": "input"},
    )
    sample = Sample("s1", "Q?", "A", ("x", "y"), category="geo", tags={"level": "2"}, metadata={"hint": "h"})
    prompt = renderer.render(sample)
    assert prompt.messages == (Message("system", "Be brief, s1."), Message("user", "Q?|geo|h|h|2|A/B"))


def test_a_sample_with_messages_keeps_them_after_the_system_message() -> None:
    messages = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    assert TemplateRenderer().render(Sample("1", messages)).messages == messages
    prompt = TemplateRenderer(system="S").render(Sample("1", messages))
    assert prompt.messages == (Message("system", "S"), *messages)


@pytest.mark.parametrize("user", ["{{ target }}", "{{ answer }}", "{{ answer | upper }}", "{{ metadata.answer }}"])
def test_the_expected_answer_cannot_get_into_a_prompt(user: str) -> None:
    sample = Sample("1", "Q", "secret", metadata={"answer": "secret", "target": "secret"})
    with pytest.raises(BenchmarkError):
        TemplateRenderer(user=user, hidden=frozenset({"answer"})).render(sample)


def test_a_missing_field_is_named_with_the_sample_and_what_there_is() -> None:
    with pytest.raises(BenchmarkError, match=r"prompt\.user: there is no 'hnit'.*sample 's1'.*hint"):
        TemplateRenderer(user="{{ hnit }}").render(Sample("s1", "Q", metadata={"hint": "h"}))


def test_the_digest_changes_with_everything_that_can_change_a_prompt() -> None:
    renderers = [
        TemplateRenderer(),
        TemplateRenderer(user="{{ input }}"),
        TemplateRenderer(user="{{ input }} "),
        TemplateRenderer(system="{{ input }}"),
        TemplateRenderer(layout="A)"),
        TemplateRenderer(aliases={"q": "input"}),
        TemplateRenderer(hidden=frozenset({"a"})),
    ]
    assert len({renderer.digest for renderer in renderers}) == len(renderers)
    assert TemplateRenderer(user="x").digest == TemplateRenderer(user="x").digest


def test_only_templates_that_use_more_than_every_sample_has_can_fail() -> None:
    assert not TemplateRenderer(user="{{ input }}{{ q }}", aliases={"q": "input"}).can_fail
    assert TemplateRenderer(user="{{ input }}{{ q }}").can_fail
    assert TemplateRenderer(user="{% if input %}x{% endif %}").can_fail
