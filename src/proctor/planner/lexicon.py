"""Words and what they mean: one file of data for each language, matched as the longest phrase that begins at a word."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from proctor.planner.words import Token, tokens_of

LANGUAGES = ("en", "de", "es", "fr", "ko", "ja", "zh")
LATIN = ("en", "de", "es", "fr")
_SHARED = ("family", "provider", "bench", "tier")
_NAMES = frozenset({"mini", "zero", "shot", "few", "k"})
FOLDER = Path(__file__).parent / "lexicons"

Concepts = tuple[tuple[str, str], ...]
"""What a phrase means: kinds with values, such as (("bench", "math"), ("subject", "mathematics"))."""


class Node(Struct):
    """A place in the tree of phrases."""

    children: dict[str, Node] = field(default_factory=dict)
    prefixes: list[tuple[str, Concepts]] = field(default_factory=list)
    concepts: Concepts | None = None


class Lexicon(Struct, frozen=True):
    """The phrases of English and of one other language."""

    language: str
    root: Node

    def longest(self, tokens: list[Token], start: int) -> tuple[int, Concepts] | None:
        """The end and the meaning of the longest phrase that begins here."""
        node, best = self.root, None
        for index in range(start, len(tokens)):
            text = tokens[index].text
            for prefix, concepts in node.prefixes:
                if text.startswith(prefix) and tokens[index].kind == "word":
                    best = (index + 1, concepts)
            following = node.children.get(text)
            if following is None:
                break
            node = following
            if node.concepts is not None:
                best = (index + 1, node.concepts)
        return best


@cache
def lexicon(language: str) -> Lexicon:
    """The phrases of a language, over those of English, which hold in every query."""
    root = Node()
    for name in dict.fromkeys(("en", language)):
        for concepts, forms in _entries(name):
            for form in forms:
                _add(root, form, concepts)
    return Lexicon(language, root)


@cache
def vocabulary(language: str) -> frozenset[str]:
    """The words that tell a language: those of its phrases, without names, which are the same in all."""
    own = (forms for concepts, forms in _entries(language) if concepts[0][0] not in _SHARED)
    return frozenset(word for forms in own for form in forms for word in form.strip("*").split()) - _NAMES


@cache
def _entries(language: str) -> tuple[tuple[Concepts, tuple[str, ...]], ...]:
    found = []
    for line in (FOLDER / f"{language}.txt").read_text(encoding="utf-8").splitlines():
        meaning, equals, forms = line.partition(" = ")
        if not equals or line.startswith("#"):
            continue
        concepts = tuple(_concept(part) for part in meaning.split("+"))
        found.append((concepts, tuple(part.strip() for part in f" {forms} ".split(" | "))))
    return tuple(found)


def _concept(text: str) -> tuple[str, str]:
    kind, _, value = text.strip().partition(":")
    return kind, value


def _add(root: Node, form: str, concepts: Concepts) -> None:
    is_prefix = form.endswith("*")
    node, texts = root, _texts(form.rstrip("*"))
    for text in texts[:-1] if is_prefix else texts:
        following = node.children.get(text)
        if following is None:
            following = node.children[text] = Node()
        node = following
    if is_prefix:
        node.prefixes.append((texts[-1], concepts))
    else:
        node.concepts = concepts


def _texts(form: str) -> list[str]:
    """The tokens of a phrase; most are plain words, for which there is a quicker way."""
    if form.isascii() and form.replace(" ", "").isalpha():
        return form.split()
    return [token.text for token in tokens_of(form)]


def language_of(tokens: list[Token]) -> str:
    """The language a query is written in, of those that can be read; English where nothing says otherwise."""
    text: dict[str, Any] = dict.fromkeys(("kana", "hangul", "han"), 0)
    for token in tokens:
        if token.kind == "cjk":
            text["kana" if token.text < "\u3100" else "hangul" if token.text >= "\uac00" else "han"] += 1
    if text["hangul"]:
        return "ko"
    if text["kana"]:
        return "ja"
    if text["han"]:
        return "zh"
    words = [token.text for token in tokens if token.kind == "word"]
    scores = {"en": 0}
    for name in LATIN[1:]:
        own = sum(word in vocabulary(name) and word not in vocabulary("en") for word in words)
        others = sum(word in vocabulary("en") and word not in vocabulary(name) for word in words)
        scores[name] = own - others
    scores["de"] += sum(any(mark in word for mark in "äöüß") for word in words)
    return max(LATIN, key=lambda name: (scores[name], name == "en"))
