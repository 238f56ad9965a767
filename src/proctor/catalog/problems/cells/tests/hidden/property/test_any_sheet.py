import math

from hypothesis import given, settings
from hypothesis import strategies as st

NUMBERS = st.integers(0, 99).map(str) | st.tuples(st.integers(0, 99), st.integers(1, 9)).map(lambda two: f"{two[0]}.{two[1]}")


def combined(inner):
    pair = st.tuples(inner, st.sampled_from("+-*"), inner).map("".join)
    return pair | inner.map(lambda text: f"({text})") | inner.map(lambda text: f"(-{text})")


@settings(max_examples=60)
@given(st.recursive(NUMBERS, combined, max_leaves=12))
def test_agrees_with_arithmetic(program, expression):
    sheet = program.module.Sheet()
    sheet.set("A1", "=" + expression)
    expected = eval(expression)  # noqa: S307  made of digits and operators by this very test
    assert math.isclose(sheet.get("A1"), expected, rel_tol=1e-9, abs_tol=1e-9)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["", "1", "2.5", "-3", "word", "=1+1"]), min_size=1, max_size=12), st.integers(1, 4))
def test_sums_any_block(program, contents, width):
    sheet = program.module.Sheet()
    total, count = 0.0, 0
    for place, content in enumerate(contents):
        sheet.set(f"{'ABCD'[place % width]}{place // width + 1}", content)
        number = {"1": 1.0, "2.5": 2.5, "-3": -3.0, "=1+1": 2.0}.get(content)
        total += number or 0.0
        count += number is not None
    sheet.set("Z1", "=SUM(A1:D12)")
    sheet.set("Z2", "=COUNT(D12:A1)")
    assert (sheet.get("Z1"), sheet.get("Z2")) == (total, count)


@settings(max_examples=30)
@given(st.permutations([("A1", "2"), ("B1", "=A1*2"), ("C1", "=SUM(A1:B1)"), ("D1", "=IF(C1>5, B1, A1)"), ("E1", "=D1-C1")]))
def test_any_order_of_changes_ends_the_same(program, changes):
    sheet = program.module.Sheet()
    for address, content in changes:
        sheet.set(address, content)
        sheet.get("E1")
    assert [sheet.get(f"{column}1") for column in "ABCDE"] == [2, 4, 6, 4, -2]


@settings(max_examples=60)
@given(st.text(alphabet="0123456789.+-e ", max_size=8))
def test_numbers_and_texts_are_told_apart(program, text):
    import re

    sheet = program.module.Sheet()
    sheet.set("A1", text)
    if not text:
        assert sheet.get("A1") is None
    elif re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?", text):
        assert sheet.get("A1") == float(text)
    else:
        assert sheet.get("A1") == text
