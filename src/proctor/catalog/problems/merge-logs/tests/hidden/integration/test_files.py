import json


def line(time, **fields):
    return json.dumps({"time": time, **fields}) + "\n"


def test_reads_standard_input(program):
    files = {"a": line("2026-03-01T10:00:01Z", text="file")}
    stdin = line("2026-03-01T10:00:00Z", text="in") + "oops\n"
    done = program.run("merge", "a", "-", files=files, stdin=stdin)
    assert [json.loads(item)["text"] for item in done.out.splitlines()] == ["in", "file"]
    assert done.err.startswith("-:2: ")
    assert json.loads(program.run("stats", "-", stdin=stdin).out)["files"] == {"-": 1}


def test_missing_files(program):
    done = program.run("merge", "a", "nowhere.log", files={"a": line("2026-03-01T10:00:00Z")})
    assert (done.code, done.out) == (2, "")
    assert "nowhere.log" in done.err
    assert program.run("stats", "nowhere.log").code == 2


def test_counts_bad_lines_too(program):
    a = line("2026-03-01T10:00:00Z", level="debug") + "{\n" + line("soon") + line("2026-03-01T10:00:00Z")
    b = line("2026-03-01T10:00:00Z", level="warning") * 3
    done = program.run("stats", "b.log", "a.log", "empty.log", files={"a.log": a, "b.log": b, "empty.log": ""})
    assert json.loads(done.out) == {
        "records": 5,
        "bad": 2,
        "levels": {"debug": 1, "info": 1, "warning": 3, "error": 0},
        "files": {"b.log": 3, "a.log": 2, "empty.log": 0},
    }
    assert done.code == 1
    assert len(done.err.splitlines()) == 2
