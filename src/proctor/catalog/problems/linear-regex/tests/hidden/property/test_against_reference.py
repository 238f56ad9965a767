import re

from hypothesis import given, settings
from hypothesis import strategies as st

ATOMS = st.sampled_from(["a", "b", "c", "ab", "()"])


def grown(inner):
    joined = st.tuples(inner, inner).map("".join)
    either = st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})")
    return joined | either


def repeated(inner):
    return grown(inner) | st.tuples(inner, st.sampled_from("*+?")).map(lambda two: f"({two[0]}){two[1]}")


PATTERNS = st.recursive(ATOMS, grown, max_leaves=8)
REPEATING = st.recursive(ATOMS, repeated, max_leaves=8)
TEXTS = st.text("abc", max_size=6)


@settings(max_examples=100)
@given(PATTERNS, TEXTS)
def test_agrees_on_whole_texts(program, pattern, text):
    assert program.module.compile(pattern).fullmatch(text) == bool(re.fullmatch(pattern, text))


@settings(max_examples=100)
@given(REPEATING, TEXTS)
def test_agrees_on_searches(program, pattern, text):
    places = ((start, end) for start in range(len(text) + 1) for end in range(len(text), start - 1, -1))
    expected = next((place for place in places if re.fullmatch(pattern, text[place[0] : place[1]])), None)
    found = program.module.compile(pattern).search(text)
    assert (None if found is None else tuple(found)) == expected


@settings(max_examples=60)
@given(st.characters(codec="utf-8"), st.characters(codec="utf-8"), st.characters(codec="utf-8"))
def test_any_character_is_in_or_out(program, one, two, other):
    low, high = sorted([one, two])
    escaped = [character if character.isalnum() or ord(character) > 127 else "\\" + character for character in (low, high)]
    inside = low <= other <= high
    assert program.module.compile(f"[{escaped[0]}-{escaped[1]}]").fullmatch(other) is inside
    assert program.module.compile(f"[^{escaped[0]}-{escaped[1]}]").fullmatch(other) is not inside
