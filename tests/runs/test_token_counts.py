"""Tokens of prompts without a tokeniser: by script, with images and documents."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.pdfs import pdf
from proctor.domain.message import Document, Image, Message, Part, Prompt, Text
from proctor.runs.token_counts import TOKENS_PER_IMAGE, TOKENS_PER_MESSAGE, prompt_tokens, rough_tokens


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
    short, long = (Document(pdf(["x" * size, "y", "z"]), "application/pdf", "a, 9 pages].pdf") for size in (4, 24))
    assert tokens_of(short) > 3 * TOKENS_PER_IMAGE
    assert tokens_of(long) == pytest.approx(tokens_of(short) + 5)


def test_a_document_that_will_be_refused_costs_nothing() -> None:
    assert tokens_of(Document(b"%PDF-1.4 broken", "application/pdf")) == 0


def test_tools_and_schemas_are_part_of_the_prompt() -> None:
    plain = Prompt((Message("user", "x"),))
    tool = {"type": "function", "function": {"name": "look", "description": "w" * 400}}
    assert prompt_tokens(Prompt(plain.messages, tools=(tool,))) > prompt_tokens(plain) + 100
    assert prompt_tokens(Prompt(plain.messages, schema={"description": "w" * 400})) > prompt_tokens(plain) + 100
