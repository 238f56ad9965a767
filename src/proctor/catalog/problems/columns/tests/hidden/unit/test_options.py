import pytest


def printed(program, *arguments, stdin):
    """What is printed, without blanks at the ends of lines: one check alone looks at those."""
    done = program.run(*arguments, stdin=stdin)
    assert done.code == 0
    return "".join(line.rstrip(" ") + "\n" for line in done.out.split("\n")[:-1])


def test_no_blanks_at_the_end(program):
    done = program.run(stdin="long cell\tx\na\t\nb\n\tlong again\tz\n")
    assert done.code == 0
    assert [line for line in done.out.split("\n") if line != line.rstrip()] == []
    assert done.out == "long cell  x\na\nb\n           long again  z\n"


def test_short_rows(program):
    assert printed(program, "--right", "3", stdin="a\nb\tc\td\ne\tf\n") == "a\nb  c  d\ne  f\n"
    assert printed(program, stdin="\tb\na\n") == "   b\na\n"


def test_empty_rows_stay(program):
    assert printed(program, stdin="\na\tb\n \t \n\nc\td\n\n") == "\na  b\n\n\nc  d\n\n"
    assert printed(program, stdin="") == ""
    assert printed(program, stdin="\n") == "\n"


def test_cells_are_trimmed(program):
    assert printed(program, "--separator", ",", stdin="  a b \t,  c\nd,e  \n") == "a b  c\nd    e\n"


@pytest.mark.parametrize(
    ("separator", "row"), [("|", "a|b"), (".", "a.b"), ("::", "a::b"), (" ", "a b"), ("a*", "xa*y"), ("é", "aéb"), ("--", "a--b")]
)
def test_other_separators(program, separator, row):
    first, second = ("x", "y") if row == "xa*y" else ("a", "b")
    assert printed(program, "--separator", separator, stdin=row + "\n") == f"{first}  {second}\n"


def test_aligns_to_the_right(program):
    rows = "a\t1\tx\nbbb\t100\tyyy\n"
    assert printed(program, "--right", "2", stdin=rows) == "a      1  x\nbbb  100  yyy\n"
    assert printed(program, "--right", "3,1", stdin=rows) == "  a  1      x\nbbb  100  yyy\n"
    assert printed(program, "--right", "2,99", stdin=rows) == "a      1  x\nbbb  100  yyy\n"


def test_cuts_long_cells(program):
    rows = "abcdef\tx\nabcd\tyyyyyyy\n"
    assert printed(program, "--width", "4", stdin=rows) == "abc…  x\nabcd  yyy…\n"
    assert printed(program, "--width", "2", stdin="abc\n") == "a…\n"
    assert printed(program, "--width", "3", "--header", stdin="abcdef\tb\n") == "ab…  b\n---  -\n"


def test_counts_code_points(program):
    assert printed(program, stdin="naïve\tx\n😀\ty\nab\tz\n") == "naïve  x\n😀      y\nab     z\n"
    assert printed(program, "--width", "3", stdin="😀😀😀\n😀😀😀😀\n") == "😀😀😀\n😀😀…\n"


def test_carriage_returns(program):
    assert printed(program, stdin="a\tb\r\nccc\td\r\n") == "a    b\nccc  d\n"
