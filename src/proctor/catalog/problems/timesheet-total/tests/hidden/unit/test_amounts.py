import pytest


def time_of(program, *amounts):
    """The time the program gives to one project with these amounts."""
    done = program.run(stdin="".join(f"{amount} x\n" for amount in amounts))
    assert done.code == 0, done.err
    time, name = done.out.splitlines()[0].split(" ")
    assert name == "x"
    return time


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        (("2h", "45m", "30s"), "2:45:30"),
        (("1h15m", "2h5s", "1h1m1s"), "4:16:06"),
        (("90m", "75s"), "1:31:15"),
        (("007h", "0m", "0h0m0s"), "7:00:00"),
    ],
)
def test_adds_each_form_of_duration(program, amounts, expected):
    assert time_of(program, *amounts) == expected


def test_adds_spans_within_a_day(program):
    assert time_of(program, "09:15-12:30", "00:00-09:08") == "12:23:00"
    assert time_of(program, "00:00-23:59") == "23:59:00"


def test_a_span_of_equal_times_takes_no_time(program):
    assert time_of(program, "07:30-07:30", "08:00-09:00") == "1:00:00"


@pytest.mark.parametrize(("span", "expected"), [("22:30-01:00", "2:30:00"), ("00:01-00:00", "23:59:00")])
def test_a_span_may_pass_midnight(program, span, expected):
    assert time_of(program, span) == expected


def test_decimal_durations_count(program):
    assert time_of(program, "1.5h", "0.25m") == "1:30:15"


def test_decimal_durations_are_exact(program):
    # 4.35 * 3600 and 1.15 * 60 are a little less than whole as floating-point numbers; the sums show a lost second.
    assert time_of(program, "4.35h") == "4:21:00"
    assert time_of(program, *["1.15m"] * 10, *["2.30h"] * 5) == "11:41:30"
    assert time_of(program, "0.050000h") == "0:03:00"
    assert "line 2:" in program.run(stdin="1h a\n0.0001h x\n").err
