import pytest


def filled(program, **cells):
    sheet = program.module.Sheet()
    for address, content in cells.items():
        sheet.set(address, content)
    return sheet


def value(program, formula, **cells):
    sheet = filled(program, **cells)
    sheet.set("Z9", formula)
    return sheet.get("Z9")


def test_values_of_plain_content(program):
    sheet = filled(program, A1="12", A2="-3.5", A3="+0.25", A4="twelve", A5="", A6=" 1", A7="1e5", A8="1.", A9="007")
    assert [sheet.get(f"A{row}") for row in range(1, 10)] == [12, -3.5, 0.25, "twelve", None, " 1", "1e5", "1.", 7]
    assert isinstance(sheet.get("A1"), float)
    assert sheet.get("ZZ999") is None


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=1+2*3", 7),
        ("=(1+2)*3", 9),
        ("=10-4-3", 3),
        ("=100/10/5", 2),
        ("=2-3+4", 3),
        ("=-2*-3", 6),
        ("=--2", 2),
        ("=+5-+2", 3),
        ("=  1 +   2 ", 3),
        ("=A1*B2", 12),
        ("=A1+C9", 3),
        ("=-A1", -3),
        ("=0.5+.5*2", None),
        ("=" + "(" * 50 + "1" + ")" * 50, 1),
    ],
)
def test_works_out_formulas(program, formula, expected):
    if expected is None:
        with program.raises("FormulaError"):
            value(program, formula)
        return
    assert value(program, formula, A1="3", B2="4") == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=1=1", 1),
        ("=1<>1", 0),
        ("=2<3", 1),
        ("=3<=3", 1),
        ("=2>3", 0),
        ("=A1>=3", 1),
        ("=1+1=2", 1),
        ("=(1<2)+(2<3)", 2),
        ("=A9=0", 1),
    ],
)
def test_compares(program, formula, expected):
    assert value(program, formula, A1="3") == expected


CELLS = {"A1": "1", "A2": "x", "A4": "4", "B1": "-2", "B2": "=A1*10"}


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=SUM(A1:B4)", 13),
        ("=SUM(B4:A1)", 13),
        ("=SUM(B1:A4)", 13),
        ("=MIN(A1:B4)", -2),
        ("=MAX(A1:B4)", 10),
        ("=AVG(A1:B4)", 3.25),
        ("=COUNT(A1:B4)", 4),
        ("=COUNT(A2)", 0),
        ("=SUM(A2)", 0),
        ("=MIN(C1:C9)", 0),
        ("=MAX(C1:C9)", 0),
        ("=AVG(C1:C9)", "#DIV0"),
        ("=COUNT(C1)", 0),
    ],
)
def test_functions_of_ranges(program, formula, expected):
    assert value(program, formula, **CELLS) == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=SUM(A1, 2, A4*2)", 11),
        ("=SUM(1,2)+SUM(3)", 6),
        ("=MAX(A1:A4, 99)", 99),
        ("=COUNT(A1, A2, A3, 5, 1+1)", 3),
        ("=SUM(SUM(A1:A4), MAX(1,2))", 7),
        ("=MIN(-1, A1:B4)", -2),
    ],
)
def test_functions_of_several_arguments(program, formula, expected):
    assert value(program, formula, **CELLS) == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("=IF(1, 2, 3)", 2),
        ("=IF(0, 2, 3)", 3),
        ("=IF(A1>2, 1/0, 7)", 7),
        ("=IF(A1<2, 7, A2+1)", 7),
        ("=IF(A1-1, A2*2, IF(1, 5, 1/0))", 5),
    ],
)
def test_chooses_with_if(program, formula, expected):
    assert value(program, formula, A1="1", A2="text") == expected


@pytest.mark.parametrize("formula", ["=A2+1", "=-A2", "=A2>1", "=IF(A2, 1, 2)", "=SUM(A2+1)", "=2*A2"])
def test_text_where_a_number_is_needed(program, formula):
    sheet = filled(program, A2="text", Z9=formula)
    assert (sheet.get("Z9"), sheet.error("Z9")) == ("#VALUE", "#VALUE")
    assert sheet.error("A2") is None


@pytest.mark.parametrize(
    "formula",
    [
        "=",
        "=1+",
        "=*2",
        "=(1",
        "=1)",
        "=1 2",
        "=A0",
        "=A1000",
        "=AAA1",
        "=A1:B2",
        "=A1:B2+1",
        "=SUM()",
        "=IF(1,2)",
        "=IF(1,2,3,4)",
        "=IF(A1:A2,1,2)",
        "=FOO(1)",
        "=SUM(1,)",
        "=1..2",
        "=1=2=3",
        "=$A1",
        "=1;2",
        '="x"',
        "=A 1",
    ],
)
def test_refuses_bad_formulas(program, formula):
    with program.raises("FormulaError"):
        filled(program, A1=formula)
    with program.raises("ValueError"):
        filled(program, A1=formula)


@pytest.mark.parametrize("address", ["", "A", "1", "A0", "A1000", "AAA1", "1A", "A-1", "A1 ", "Ä1", "A1:A2"])
def test_refuses_bad_addresses(program, address):
    sheet = program.module.Sheet()
    with program.raises("FormulaError"):
        sheet.set(address, "1")
    with program.raises("FormulaError"):
        sheet.get(address)


def test_letters_may_be_small(program):
    sheet = filled(program, a1="2", B1="=sum(a1:A1)+Max(a1)")
    assert sheet.get("b1") == 4
    sheet.set("A1", "3")
    assert sheet.get("B1") == 6


def test_gives_content_back(program):
    sheet = filled(program, A1=" = not a formula", A2="=sum( a1 )", A3="007")
    assert [sheet.content(address) for address in ("a1", "A2", "A3", "A4")] == [" = not a formula", "=sum( a1 )", "007", ""]
