SHEET = """\
# Monday
09:15-12:30  website redesign
1h15m        tax return
1.5h         website   redesign
14:00-14:30  reading
"""


def test_a_small_sheet(program):
    done = program.run(stdin=SHEET)
    assert done.code == 0
    *projects, total = done.out.splitlines()
    assert sorted(projects) == ["0:30:00 reading", "1:15:00 tax return", "4:45:00 website redesign"]
    assert total == "6:30:00 TOTAL"


def test_adds_durations(program):
    done = program.run(stdin="1h a\n30m a\n15s a\n")
    assert done.out.splitlines()[0] == "1:30:15 a"


def test_refuses_a_malformed_line(program):
    done = program.run(stdin="1h a\nsoon b\n")
    assert done.code == 1
    assert done.out == ""


def test_only_one_project_is_shown(program):
    done = program.run("--only", "tax return", stdin=SHEET)
    assert (done.code, done.out) == (0, "1:15:00 tax return\n")
