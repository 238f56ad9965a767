"""Tests of the library, most of them against `re`."""

import re

import pytest

import lregex

PATTERNS = [
    "a*",
    "(a|b)+c",
    "a{2,3}b?",
    "[^a-c]x|[]-]",
    r"\w+\s\D",
    "(a*)*",
    "()|b",
    r"[\d_-]{2}",
    "a{0}b{2,}",
]
TEXTS = ["", "a", "aab", "abac", "bbb", "dx", "x y-", "12", "_-", "aaa", "]", "\nx"]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_whole_texts(pattern: str) -> None:
    compiled = lregex.compile(pattern)
    for text in TEXTS:
        assert compiled.fullmatch(text) == bool(re.fullmatch(pattern, text)), text


def test_searching() -> None:
    assert lregex.compile("a|ab").search("xab") == (1, 3)
    assert lregex.compile("^b|c$").search("abc") == (2, 3)
    assert lregex.compile("x").search("abc") is None


def test_all_matches() -> None:
    assert lregex.compile("a*").findall("baac") == [(0, 0), (1, 3), (4, 4)]
    assert lregex.compile("^|b").replace("ab", "-") == "-a-"


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("(a", 0),
        ("a)", 1),
        ("*", 0),
        ("a{", 1),
        ("a{3,1}", 1),
        ("a{300}", 1),
        ("[z-a]", 1),
        ("[a", 0),
        ("a\\", 1),
        (r"\q", 0),
        ("}", 0),
        ("(((a{200}){200}){200})", 0),
    ],
)
def test_mistakes_have_a_place(pattern: str, place: int) -> None:
    with pytest.raises(lregex.PatternError) as caught:
        lregex.compile(pattern)
    assert caught.value.place == place
