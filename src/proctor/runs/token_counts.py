"""How many tokens a prompt has, as far as that can be told without the model's own tokeniser."""

from __future__ import annotations

import re

from proctor.domain.errors import ModelError
from proctor.domain.message import Document, Image, Prompt
from proctor.stores.codec import prompt_text

# Tokenisers are trained mostly on English: a Latin word is one or two tokens, while Chinese, Japanese and Korean take
# most of a token for each character, and other alphabets are cut into short pieces.
LATIN = 4.0
DENSE = 1.3
OTHER = 2.0
RATES_IN_WORDS = "about 4 Latin, 1.3 Chinese, Japanese or Korean and 2 other characters to a token"
_LATIN = re.compile("[\u0000-\u024f\u1e00-\u1eff\u2000-\u206f]+")
_DENSE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)
TOKENS_PER_MESSAGE = 6
TOKENS_PER_IMAGE = 1_000
"""What providers make of an ordinary picture; they send the pages of a document as pictures, too, beside its text."""


def rough_tokens(text: str) -> float:
    """Tokens of a text by its scripts; more for a longer text, and 0 for none only."""
    if text.isascii():
        return len(text) / LATIN
    rest = _LATIN.sub("", text)
    others = len(_DENSE.sub("", rest))
    return (len(text) - len(rest)) / LATIN + (len(rest) - others) / DENSE + others / OTHER


def prompt_tokens(prompt: Prompt) -> float:
    """Tokens of everything in a prompt: texts, tools, schema, images and documents."""
    more = prompt_text(Prompt((), prompt.tools, prompt.schema)) if prompt.tools or prompt.schema else ""
    texts = rough_tokens(prompt.text) + rough_tokens(more) + TOKENS_PER_MESSAGE * len(prompt.messages)
    return texts + sum(map(_file_tokens, files_in(prompt)))


def files_in(prompt: Prompt) -> list[Image | Document]:
    """The images and documents of a prompt."""
    return [
        part
        for message in prompt.messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, (Image, Document))
    ]


def _file_tokens(file: Image | Document) -> float:
    if isinstance(file, Image):
        return TOKENS_PER_IMAGE
    from proctor.prompts.documents import pdf_content

    try:
        content = pdf_content(file.data, file.name, "this estimate")
    except ModelError:
        return 0.0  # What cannot be read is refused before it is paid for.
    return rough_tokens(content.text) + TOKENS_PER_IMAGE * content.pages
