"""How many tokens a prompt has: counted where the model's tokeniser can be had, else told from its scripts."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from proctor.domain.errors import ModelError
from proctor.domain.message import DocumentPart, Image, Prompt
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


# English prose has three to five characters to a token, code fewer; other scripts differ as much.
UNMEASURED_SPREAD = 0.35
MEASURED_SPREAD = 0.05
# OpenAI publishes its tokenisers, and which model has which; nobody else's can be had without a download.
_VOCABULARIES = (
    ("o200k_base", re.compile(r"(?:chatgpt-4o|gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|gpt-oss|o[134])(?![^-.:@])")),
    ("cl100k_base", re.compile(r"gpt-(?:4|3\.5|35)(?![^-.:@])")),
)


class Tokeniser(Struct, frozen=True):
    """Counts the tokens of a text; says how, and how far off the sum of many may be."""

    count: Callable[[str], float]
    how: str
    spread: float


@lru_cache(maxsize=32)
def tokeniser_of(model: str) -> Tokeniser:
    """The tokeniser of a model by its name, with or without its maker's; else rates for every script."""
    name = model.rpartition("/")[2].lower()
    vocabulary = next((vocabulary for vocabulary, names in _VOCABULARIES if names.match(name)), None)
    if vocabulary is None:
        return Tokeniser(rough_tokens, f"measured in characters, {RATES_IN_WORDS}", UNMEASURED_SPREAD)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of how it opens its own files
            from bpe_openai import get_encoding
    except ModuleNotFoundError:
        how = f"measured in characters, {RATES_IN_WORDS} (pip install 'proctor[tokens]' counts them)"
        return Tokeniser(rough_tokens, how, UNMEASURED_SPREAD)
    encode = get_encoding(vocabulary).encode_ordinary
    return Tokeniser(lambda text: len(encode(text)), f"counted in tokens of {vocabulary}", MEASURED_SPREAD)


def rough_tokens(text: str) -> float:
    """Tokens of a text by its scripts; more for a longer text, and 0 for none only."""
    if text.isascii():
        return len(text) / LATIN
    rest = _LATIN.sub("", text)
    others = len(_DENSE.sub("", rest))
    return (len(text) - len(rest)) / LATIN + (len(rest) - others) / DENSE + others / OTHER


def prompt_tokens(prompt: Prompt, count: Callable[[str], float] = rough_tokens) -> float:
    """Tokens of everything in a prompt: texts, tools, schema, images and documents."""
    more = prompt_text(Prompt((), prompt.tools, prompt.schema)) if prompt.tools or prompt.schema else ""
    texts = count(prompt.text) + count(more) + TOKENS_PER_MESSAGE * len(prompt.messages)
    return texts + sum(_file_tokens(file, count) for file in files_in(prompt))


def files_in(prompt: Prompt) -> list[Image | DocumentPart]:
    """The images and documents of a prompt."""
    return [
        part
        for message in prompt.messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, (Image, DocumentPart))
    ]


def _file_tokens(file: Image | DocumentPart, count: Callable[[str], float]) -> float:
    if isinstance(file, Image):
        return TOKENS_PER_IMAGE
    from proctor.prompts.documents import pdf_content

    try:
        content = pdf_content(file.data, file.name, "this estimate")
    except ModelError:
        return 0.0  # What cannot be read is refused before it is paid for.
    return count(content.text) + TOKENS_PER_IMAGE * content.pages
