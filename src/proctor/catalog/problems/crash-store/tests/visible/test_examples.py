def test_keeps_a_value(program):
    done = program.run("set", "colour", "dark blue")
    assert (done.code, done.out) == (0, "OK\n")
    assert program.run("get", "colour").out == "dark blue\n"
    program.run("set", "colour", "red")
    assert program.run("get", "colour").out == "red\n"
    assert list(program.list()) == ["store.log"]


def test_makes_a_batch_of_changes(program):
    done = program.run("batch", stdin="set a 1\nset b 2 \ndel a\ndel x\nset c \n")
    assert (done.code, done.out) == (0, "OK\n")
    assert program.run("list").out == "b\t2 \nc\t\n"


def test_a_session_sees_its_own_changes(program):
    done = program.run("session", stdin="get a\nset a 1 2\nget a\ndel a\ndel a\nget a\n")
    assert done.code == 0
    assert done.out.splitlines() == ["NONE", "OK", "VALUE 1 2", "OK", "NONE", "NONE"]


def test_ignores_an_incomplete_record(program):
    program.run("set", "a", "1")
    one = program.list()["store.log"]
    program.run("set", "b", "2")
    log = program.read("store.log")
    for size in (len(log) - 1, one + 1, one):
        program.write("store.log", log[:size])
        done = program.run("list")
        assert (done.code, done.out) == (0, "a\t1\n")
    for size in (one - 1, 1, 0):
        program.write("store.log", log[:size])
        done = program.run("list")
        assert (done.code, done.out) == (0, "")
