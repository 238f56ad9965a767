import pytest


def position(program, text):
    done = program.run("json", stdin=text)
    assert (done.code, done.out) == (1, ""), text
    line, column, rest = done.err.split(":", 2)
    assert rest.startswith(" ")
    assert rest.splitlines()[0].strip()
    return int(line), int(column)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b = 1", (1, 3)),
        ("a = 1\n\n  = 2", (3, 3)),
        ("a = [1 2]", (1, 8)),
        ('a "x" = 1', (1, 7)),
        ("a = yes", (1, 5)),
        ("a { b = 1 } }", (1, 13)),
        ("a = 1;", (1, 6)),
        ("a = [1, 2}", (1, 10)),
    ],
)
def test_reports_each_unexpected_token(program, text, expected):
    assert position(program, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", (1, 2)), ("a =\n", (2, 1)), ("a {\n  b = 1 # x", (2, 12)), ("a = [1, [2]  ", (1, 14)), ("a {\n\n", (3, 1))],
)
def test_reports_an_early_end(program, text, expected):
    assert position(program, text) == expected


@pytest.mark.parametrize(("text", "expected"), [('a = "b\nc"', (1, 5)), ('a = 1\nb = ["x", "y]', (2, 11)), ('a = "b\\"', (1, 5))])
def test_reports_an_open_string(program, text, expected):
    assert position(program, text) == expected


@pytest.mark.parametrize(
    ("text", "column"),
    [('a = "b\\qc"', 7), ('a = "\\u{}"', 6), ('a = "x\\u{110000}"', 7), ('a = "\\n\\u{D800}"', 8), ('a = "\\u41"', 6), ('a "\\x" {}', 4)],
)
def test_reports_an_invalid_escape(program, text, column):
    assert position(program, text) == (1, column)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\nb = 2\n  a = 3", (3, 3)),
        ("a {}\na = 1", (2, 1)),
        ('a "x" {}\na {}', (2, 1)),
        ('a {}\na "x" {}', (2, 1)),
        ('a "x" {}\na "y" {}\na "\\u{78}" {}', (3, 3)),
        ("o { a = 1\na = 1 }", (2, 1)),
    ],
)
def test_reports_a_second_use_of_a_key(program, text, expected):
    assert position(program, text) == expected


def test_labels_share_a_key(program):
    done = program.run("json", stdin='a "x" { b = 1 }\nb = 2\na "y" { b = 3 }')
    assert done.code == 0
    assert "3" in done.out
    assert position(program, 'a "x" {} a "x" {}') == (1, 12)


def test_reports_an_integer_out_of_range(program):
    assert program.run("json", stdin="a = [9007199254740991, -9_007_199_254_740_991]").code == 0
    assert position(program, "a = [1, 9007199254740992]") == (1, 9)
    assert position(program, "a = -9007199254740992") == (1, 5)


def test_counts_columns_in_code_points(program):
    assert position(program, 'a = "é😀" =') == (1, 10)
    assert position(program, "\ta\t=\t=") == (1, 6)
    assert position(program, "a = 1\r\n\r\n# é\r\nb = 2 \r=") == (4, 8)


def test_reports_the_first_of_several_errors(program):
    assert position(program, 'a = = 1\nb = "open\n') == (1, 5)
    assert position(program, 'a { b = [1 2] }\nc = "\\q"') == (1, 12)
    assert position(program, "a = 9007199254740992\nb ! 1\n") == (1, 5)
    assert position(program, 'a = "\\q\n') == (1, 6)
