"""Tests of sheets and formulas."""

import pytest

from cells import FormulaError, Sheet


def value(formula: str, **contents: str) -> float | str | None:
    sheet = Sheet()
    for address, content in contents.items():
        sheet.set(address, content)
    sheet.set("Z99", formula)
    return sheet.get("Z99")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=1+2*(3-1)/4", 2.0),
        ("=-A1+ +B1", -1.0),
        ("=SUM(A1:B2)", 5.0),
        ("=MIN(A1:B1)+MAX(B1:A1)", 5.0),
        ("=AVG(A1:B1, 1)", 2.0),
        ("=COUNT(A1:C9)", 2.0),
        ("=AVG(D1)", "#DIV0"),
        ("=IF(A1<>3, 1/0, 4)", 4.0),
        ("=C1+1", "#VALUE"),
        ("=1/0", "#DIV0"),
        ("=SUM(E1)", "#DIV0"),
    ],
)
def test_formulas(formula: str, expected: float | str) -> None:
    assert value(formula, A1="3", B1="2", C1="text", E1="=1/0") == expected


@pytest.mark.parametrize(
    "formula",
    [
        "=",
        "=1+",
        "=A1:B2",
        "=(A1:B2)",
        "=-A1:B2",
        "=FOO(1)",
        "=IF(1,2)",
        "=1 2",
        "=#",
        "=A1:",
        "=" + "(" * 70,
    ],
)
def test_bad_formulas(formula: str) -> None:
    with pytest.raises(FormulaError):
        Sheet().set("A1", formula)


def test_changes_reach_everyone() -> None:
    sheet = Sheet()
    sheet.set("B1", "=A1+1")
    sheet.set("AB1", "=B1+1")
    assert sheet.get("AB1") == 2.0
    sheet.set("A1", "5")
    assert sheet.get("AB1") == 7.0
    assert sheet.dependents("B1") == ["AB1"]
    sheet.set("B1", "")
    assert (sheet.get("AB1"), sheet.dependents("A1"), sheet.content("B1")) == (
        1.0,
        [],
        "",
    )


def test_cycles() -> None:
    sheet = Sheet()
    sheet.set("A1", "=B1")
    sheet.set("B1", "=A1")
    assert (sheet.error("A1"), sheet.error("B1"), sheet.error("C1")) == (
        "#CYCLE",
        "#CYCLE",
        None,
    )
    with pytest.raises(FormulaError):
        sheet.get("A0")
