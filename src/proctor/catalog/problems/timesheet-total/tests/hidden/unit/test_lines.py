import pytest


def test_ignores_blank_lines_and_comments(program):
    done = program.run(stdin="# 1h a\n\n   \t \n  # 2h indented\n\t#3h tabbed\n  1h   a  \n#\n2h b # c")
    assert done.code == 0
    assert sorted(done.out.splitlines()) == ["1:00:00 a", "2:00:00 b # c", "3:00:00 TOTAL"]


def test_an_empty_sheet_has_a_total(program):
    for sheet in ("", "\n\n# nothing\n"):
        done = program.run(stdin=sheet)
        assert (done.code, done.out) == (0, "0:00:00 TOTAL\n")


def test_joins_the_words_of_a_name(program):
    done = program.run(stdin="1h\tweb   site \t draft\n1h web site draft\n1h Web site draft\n")
    assert sorted(done.out.splitlines()[:-1]) == ["1:00:00 Web site draft", "2:00:00 web site draft"]


@pytest.mark.parametrize(
    "lines",
    [
        ["1h", "09:00-10:00", "1 x"],
        ["-1h x", "1H x", "1h30 x", "1m1h x", "٣h x"],
        [".5h x", "1.5s x", "1.5h30m x", "1,5h x"],
        ["24:00-01:00 x", "9:00-10:00 x", "09:60-10:00 x", "09:00 x"],
    ],
)
def test_refuses_each_kind_of_malformed_amount(program, lines):
    assert program.run(stdin="1h fine\n").code == 0
    for line in lines:
        done = program.run(stdin=line + "\n")
        assert (done.code, done.out) == (1, ""), line


def test_names_the_line_that_is_malformed(program):
    done = program.run(stdin="# sheet\n\n1h a\n1x b\n2h a\n")
    assert done.err.splitlines()[0].startswith("line 4:")
    assert program.run(stdin="nonsense\n").err.startswith("line 1:")


def test_reports_every_malformed_line(program):
    done = program.run(stdin="bad a\n1h a\n# bad\n2h\n\n25:00-26:00 b\n")
    assert [line.split(":")[0] for line in done.err.splitlines()] == ["line 1", "line 4", "line 6"]
