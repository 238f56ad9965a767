"""What using the library looks like."""

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
SECOND = 784111777


def test_reads_directives(program):
    directives = program.module.directives
    assert directives('Max-Age = 60, private="x, y", no-cache') == {"max-age": "60", "private": "x, y", "no-cache": None}
    assert directives("") == {}
    assert directives("max-age=1, max-age=2,, ,") == {"max-age": "1"}
    assert directives(r'a="\"\\,", b="", c=') == {"a": '"\\,', "b": "", "c": ""}


def test_works_out_the_age(program):
    age = program.module.age
    assert age({"Date": DATE, "Age": "5"}, SECOND + 2, SECOND + 12) == 15
    assert age({"date": DATE, "age": "5"}, SECOND + 8, SECOND + 8) == 8
    assert age({}, SECOND, SECOND + 3) == 3
    assert age({"date": DATE}, SECOND - 50, SECOND) == 50
    assert age({"date": "then", "age": "-1"}, SECOND, SECOND + 1) == 1


def test_fresh_answers(program):
    decide = program.module.decide
    assert decide({}, {"Date": DATE, "Cache-Control": "max-age=60"}, SECOND, SECOND + 59) == "fresh"
    assert decide({}, {"Date": DATE, "Cache-Control": "max-age=60"}, SECOND, SECOND + 60) == "validate"
    assert decide({}, {"Date": DATE}, SECOND, SECOND) == "validate"
