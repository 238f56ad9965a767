"""What using the command looks like."""

import json


def test_merges_in_order_of_time(program):
    done = program.run(
        "merge",
        "a.log",
        "b.log",
        files={
            "a.log": '{"time": "2026-03-01T10:00:00Z", "text": "one"}\n{"time": "2026-03-01T10:00:02Z", "text": "three"}\n',
            "b.log": '{"time": "2026-03-01T10:00:01Z", "text": "two"}\n',
        },
    )
    assert done.code == 0
    assert [json.loads(line)["text"] for line in done.out.splitlines()] == ["one", "two", "three"]


def test_bad_lines_are_reported(program):
    lines = '{"time": "2026-03-01T10:00:00Z"}\nnot json\n\n{"time": "yesterday"}\n{"text": "when?"}\n[]\n{"time": 5}\n'
    done = program.run("merge", "a.log", files={"a.log": lines})
    assert done.out == '{"time": "2026-03-01T10:00:00Z"}\n'
    assert [line.split(": ")[0] for line in done.err.splitlines()] == [f"a.log:{number}" for number in (2, 4, 5, 6, 7)]
    assert done.code == 1


def test_counts_records(program):
    lines = '{"time": "2026-03-01T10:00:00Z", "level": "error"}\n{"time": "2026-03-01T10:00:00Z"}\n'
    done = program.run("stats", "a.log", files={"a.log": lines})
    assert json.loads(done.out) == {
        "records": 2,
        "bad": 0,
        "levels": {"debug": 0, "info": 1, "warning": 0, "error": 1},
        "files": {"a.log": 2},
    }
