"""Tokens of prompts: by script or by the model's own tokeniser, with images and documents."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.pdfs import pdf
from proctor.costs.tokens import (
    TOKENS_PER_IMAGE,
    TOKENS_PER_MESSAGE,
    UNMEASURED_SPREAD,
    prompt_tokens,
    rough_tokens,
    tokeniser_of,
)
from proctor.domain.message import DocumentPart, Image, Message, Part, Prompt, Text


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("The quick brown fox jumps over the lazy dog, it’s said.", 4.0),
        ("Où est la bibliothèque, s’il vous plaît?", 4.0),
        ("今天天气很好我们去公园散步吧", 1.3),
        ("きょうはとてもいいてんきですね。", 1.3),
        ("오늘날씨가매우좋습니다", 1.3),
        ("Сегоднятеплоисолнечно", 2.0),
        ("आजमौसमअच्छाहै", 2.0),
        ("اليومالطقسجميل", 2.0),
    ],
)
def test_each_script_has_a_rate_of_its_own(text: str, rate: float) -> None:
    assert rough_tokens(text) == pytest.approx(len(text) / rate)


@given(st.text(), st.text(min_size=1))
def test_a_longer_text_has_more_tokens_and_no_text_but_the_empty_one_has_none(text: str, more: str) -> None:
    assert rough_tokens("") == 0
    assert rough_tokens(more) > 0
    assert rough_tokens(text + more) > rough_tokens(text)
    assert rough_tokens(text + more) == pytest.approx(rough_tokens(text) + rough_tokens(more))


def tokens_of(*parts: Part) -> float:
    return prompt_tokens(Prompt((Message("user", parts),))) - TOKENS_PER_MESSAGE


def test_images_and_pages_of_documents_are_counted() -> None:
    image = Image(b"\x89PNG", "image/png")
    assert tokens_of(Text("four"), image, image) == 1 + 2 * TOKENS_PER_IMAGE
    short, long = (DocumentPart(pdf(["x" * size, "y", "z"]), "application/pdf", "a, 9 pages].pdf") for size in (4, 24))
    assert tokens_of(short) > 3 * TOKENS_PER_IMAGE
    assert tokens_of(long) == pytest.approx(tokens_of(short) + 5)


def test_a_document_that_will_be_refused_costs_nothing() -> None:
    assert tokens_of(DocumentPart(b"%PDF-1.4 broken", "application/pdf")) == 0


def test_tools_and_schemas_are_part_of_the_prompt() -> None:
    plain = Prompt((Message("user", "x"),))
    tool = {"type": "function", "function": {"name": "look", "description": "w" * 400}}
    assert prompt_tokens(Prompt(plain.messages, tools=(tool,))) > prompt_tokens(plain) + 100
    assert prompt_tokens(Prompt(plain.messages, schema={"description": "w" * 400})) > prompt_tokens(plain) + 100


@pytest.mark.parametrize(
    ("model", "vocabulary"),
    [
        *((name, "o200k_base") for name in ("gpt-4o", "gpt-4o-mini-2024-07-18", "gpt-4.1-nano", "gpt-5.1-codex")),
        *((name, "o200k_base") for name in ("o1", "o3-mini", "o4-mini", "chatgpt-4o-latest", "openai/gpt-oss-20b")),
        *((name, "cl100k_base") for name in ("gpt-4", "gpt-4-turbo", "gpt-3.5-turbo-0125", "openai/gpt-4-32k:free")),
        *((name, None) for name in ("llama", "claude-sonnet-4-5", "gpt-2", "gpt-40", "o2", "o1x", "my-gpt-4", "")),
    ],
)  # fmt: skip
def test_a_model_is_counted_in_its_own_tokens_where_these_are_known(model: str, vocabulary: str | None) -> None:
    found = tokeniser_of(model)
    assert (f"counted in tokens of {vocabulary}" == found.how) is (vocabulary is not None)
    assert (found.spread < UNMEASURED_SPREAD) is (vocabulary is not None)


def test_tokens_are_those_that_were_published() -> None:
    """The example of the tokenisers' makers: 6 tokens in either; other texts are cut differently."""
    small, large = tokeniser_of("gpt-4").count, tokeniser_of("gpt-4o").count
    assert small("tiktoken is great!") == large("tiktoken is great!") == 6
    assert small("お誕生日おめでとう") == 9
    assert large("お誕生日おめでとう") == 8
    assert small("<|endoftext|>") > 1, "a text is a text, whatever it says"


def test_without_the_tokeniser_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bpe_openai", None)
    found = tokeniser_of.__wrapped__("gpt-4o")
    assert found.count("four") == rough_tokens("four")
    assert "pip install 'proctor[tokens]'" in found.how
    assert found.spread == UNMEASURED_SPREAD
