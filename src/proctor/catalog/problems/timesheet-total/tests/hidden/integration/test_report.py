def test_the_longest_comes_first(program):
    done = program.run(stdin="1m a\n2h b\n10s c\n11h d\n30m a\n")
    assert [line.split(" ")[1] for line in done.out.splitlines()[:4]] == ["d", "b", "a", "c"]


def test_equal_times_are_ordered_by_name(program):
    done = program.run(stdin="60m beta\n1h alpha\n3600s Zeta\n1.0h alpha two\n2h omega\n")
    names = [line.split(" ", 1)[1] for line in done.out.splitlines()[:5]]
    assert names == ["omega", "Zeta", "alpha", "alpha two", "beta"]


def test_pads_minutes_and_seconds(program):
    done = program.run(stdin="5s a\n")
    assert done.out == "0:00:05 a\n0:00:05 TOTAL\n"
    assert program.run("--only", "b", stdin="10h b\n8m b\n").out == "10:08:00 b\n"


def test_hours_go_on_beyond_a_day(program):
    done = program.run("--only", "a", stdin="23h a\n90m a\n")
    assert done.out == "24:30:00 a\n"
    assert program.run("--only", "a", stdin="1000h a\n").out == "1000:00:00 a\n"


def test_the_last_line_is_the_total(program):
    done = program.run(stdin="1h c\n20m b\n3s a\n")
    assert done.out.endswith("\n1:20:03 TOTAL\n")
    assert done.out.count("TOTAL") == 1


def test_prints_nothing_when_the_last_line_is_malformed(program):
    sheet = "".join(f"1m project {n}\n" for n in range(500))
    assert program.run(stdin=sheet).out.count("\n") == 501
    done = program.run(stdin=sheet + "oops x\n")
    assert (done.code, done.out) == (1, "")


def test_an_unknown_project_took_no_time(program):
    done = program.run("--only", "tax", stdin="1h tax return\n")
    assert (done.code, done.out) == (0, "0:00:00 tax\n")


def test_refuses_unknown_arguments(program):
    assert program.run(stdin="1h a\n").code == 0
    for arguments in (["--all"], ["sheet.txt"], ["--only"], ["--only", "a", "b"], ["-d"]):
        done = program.run(*arguments, stdin="1h a\n")
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err.strip()


def test_decimal_hours_are_rounded_half_up(program):
    sheet = "1h a\n18s b\n17s c\n30m d\n1h53m42s e\n"
    done = program.run("--decimal", stdin=sheet)
    assert sorted(done.out.splitlines()) == ["0.00 c", "0.01 b", "0.50 d", "1.00 a", "1.90 e", "3.40 TOTAL"]
    assert program.run("--only", "b", "--decimal", stdin="54s b\n").out == "0.02 b\n"
    assert program.run("--decimal", "--only", "b", stdin="100h b\n").out == "100.00 b\n"
