import json


def line(time, **fields):
    return json.dumps({"time": time, **fields}, ensure_ascii=False) + "\n"


def texts(done):
    return [json.loads(item).get("text") for item in done.out.splitlines()]


def test_ties_follow_the_order_of_files(program):
    same = "2026-03-01T10:00:00Z"
    files = {name: line(same, text=f"{name}1") + line(same, text=f"{name}2") for name in ("x", "a", "m")}
    assert texts(program.run("merge", "m", "x", "a", files=files)) == ["m1", "m2", "x1", "x2", "a1", "a2"]


def test_lines_are_left_as_they_are(program):
    first = '{"zeta":1,  "time" : "2026-03-01T10:00:00Z", "note": "über \\u00fc 🙂", "n": 1.50}'
    second = '{"time":"2026-03-01T10:00:01.0Z","level":"info","a":[1,2 ,3]}'
    done = program.run("merge", "a", files={"a": f"{first}\n{second}"})
    assert done.out_bytes == f"{first}\n{second}\n".encode()


def test_offsets_are_honoured(program):
    files = {
        "a": line("2026-03-01T10:00:00+02:00", text="8") + line("2026-03-01T04:30:00-05:30", text="10"),
        "b": line("2026-03-01T09:00:00Z", text="9") + line("2026-03-01T10:00:00+00:00", text="10b"),
    }
    assert texts(program.run("merge", "a", "b", files=files)) == ["8", "9", "10", "10b"]


def test_fractions_are_exact(program):
    files = {
        "a": line("2026-03-01T10:00:00.000000001Z", text="1") + line("2026-03-01T10:00:00.5Z", text="5"),
        "b": line("2026-03-01T10:00:00.000000002Z", text="2") + line("2026-03-01T10:00:00.499999999Z", text="4"),
        "c": line("2026-03-01T10:00:00Z", text="0") + line("2026-03-01T10:00:00.000000003Z", text="3"),
    }
    assert texts(program.run("merge", "b", "a", "c", files=files)) == ["0", "1", "2", "3", "4", "5"]


def test_lines_out_of_order_are_bad(program):
    lines = "".join(line(f"2026-03-01T10:00:0{second}Z", text=str(second)) for second in (1, 5, 3, 5, 4, 6))
    done = program.run("merge", "a", files={"a": lines})
    assert texts(done) == ["1", "5", "5", "6"]
    assert [item.split(": ")[0] for item in done.err.splitlines()] == ["a:3", "a:5"]
    assert done.code == 1


def test_since_and_until(program):
    lines = "".join(line(f"2026-03-01T10:00:0{second}Z", text=str(second)) for second in range(6))
    files = {"a": lines}
    assert texts(program.run("merge", "--since", "2026-03-01T10:00:02Z", "a", files=files)) == ["2", "3", "4", "5"]
    assert texts(program.run("merge", "a", "--until", "2026-03-01T10:00:02Z")) == ["0", "1"]
    done = program.run("merge", "--until", "2026-03-01T10:00:04.5Z", "a", "--since", "2026-03-01T10:00:03.999999999Z")
    assert (texts(done), done.code) == (["4"], 0)


def test_levels(program):
    lines = "".join(
        line("2026-03-01T10:00:00Z", text=level, level=level) for level in ("debug", "info", "warning", "error")
    ) + line("2026-03-01T10:00:00Z", text="none")
    files = {"a": lines}
    assert texts(program.run("merge", "--level", "debug", "a", files=files)) == ["debug", "info", "warning", "error", "none"]
    assert texts(program.run("merge", "--level", "info", "a")) == ["info", "warning", "error", "none"]
    assert texts(program.run("merge", "--level", "error", "a")) == ["error"]


def test_unknown_levels_are_bad(program):
    lines = "".join(line("2026-03-01T10:00:00Z", level=level) for level in ("fatal", "ERROR", 3, None, "error"))
    done = program.run("merge", "a", files={"a": lines})
    assert len(done.out.splitlines()) == 1
    assert [item.split(": ")[0] for item in done.err.splitlines()] == [f"a:{number}" for number in (1, 2, 3, 4)]
    assert done.code == 1


def test_dedupes_within_an_instant(program):
    one, two = line("2026-03-01T10:00:00Z", text="1"), line("2026-03-01T10:00:00.0Z", text="1")
    later = line("2026-03-01T10:00:00Z", text="2")
    files = {"a": one + later + one, "b": one + two, "c": one.replace('"1"', '"x"')}
    done = program.run("merge", "--dedupe", "a", "b", "c", files=files)
    assert done.out == one + later + two + files["c"]
    assert done.code == 0
    again = line("2026-03-01T10:00:05Z", text="1", other=1)
    done = program.run("merge", "--dedupe", "d", "d", files={"d": again + line("2026-03-01T10:00:06Z") * 3})
    assert done.out == again + line("2026-03-01T10:00:06Z")


def test_blank_lines_are_no_fault(program):
    done = program.run("merge", "a", files={"a": "\n   \n" + line("2026-03-01T10:00:00Z") + "\t\n"})
    assert (done.code, done.err, done.out) == (0, "", line("2026-03-01T10:00:00Z"))


def test_wrong_usage(program):
    program.write("a", line("2026-03-01T10:00:00Z"))
    assert program.run("merge", "a").code == 0
    for arguments in (
        [],
        ["merge"],
        ["stats"],
        ["sort", "a"],
        ["merge", "--fast", "a"],
        ["merge", "--since", "noon", "a"],
        ["merge", "--until", "2026-02-30T00:00:00Z", "a"],
        ["merge", "--level", "fatal", "a"],
        ["merge", "a", "--since"],
    ):
        done = program.run(*arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err.strip(), arguments
