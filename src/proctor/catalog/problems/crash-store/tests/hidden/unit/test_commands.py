def test_keeps_every_kind_of_value(program):
    values = {"plain": "x", "empty": "", "spaces": "  a  b ", "quote": "\t\"'\\n\\", "many": "é" * 9000 + "😀", "!~": "--x"}
    for key, value in values.items():
        assert program.run("set", key, value).out == "OK\n"
    for key, value in values.items():
        assert program.run("get", key).out == value + "\n"


def test_a_missing_key(program):
    assert program.run("set", "somebody", "1").code == 0
    done = program.run("get", "nobody")
    assert (done.code, done.out) == (4, "")
    program.fresh()
    done = program.run("get", "somebody")
    assert (done.code, done.out) == (4, "")


def test_deletes_a_key(program):
    program.run("set", "a", "1")
    done = program.run("del", "a")
    assert (done.code, done.out) == (0, "OK\n")
    assert program.run("get", "a").code == 4
    done = program.run("del", "a")
    assert (done.code, done.out) == (4, "")
    program.run("set", "a", "2")
    assert program.run("get", "a").out == "2\n"


def test_lists_in_order(program):
    assert program.run("list").out == ""
    keys = ["b", "a", "B", "10", "9", "~", "!", "aa", "a-"]
    assert program.run("batch", stdin="".join(f"set {key} v {key}\n" for key in keys)).code == 0
    assert program.run("list").out == "".join(f"{key}\tv {key}\n" for key in sorted(keys))


def test_refuses_wrong_arguments(program):
    assert program.run("set", "k" * 100, "1").code == 0
    before = program.read("store.log")
    wrong = [
        [], ["put", "a", "1"], ["set", "a"], ["set", "a", "1", "2"], ["get"], ["list", "a"], ["set", "", "1"],
        ["set", "a b", "1"], ["set", "é", "1"], ["set", "k" * 101, "1"], ["set", "a", "1\n2"], ["set", "a", "x" * 10001],
    ]  # fmt: skip
    for arguments in wrong:
        done = program.run(*arguments)
        assert (done.code, done.out) == (2, ""), arguments
        assert done.err.strip()
    assert program.read("store.log") == before


def test_a_session_survives_wrong_lines(program):
    lines = ["set", "set a", "get", "hello", "", "set a b c", "get a b", "set é 1", "SET a 1", "set  x", "get a"]
    done = program.run("session", stdin="\n".join(lines) + "\n")
    assert done.code == 0
    answers = done.out.splitlines()
    assert len(answers) == len(lines)
    assert [line for line, answer in zip(lines, answers) if not answer.startswith("ERR ")] == ["set a b c", "get a"]
    assert answers[-1] == "VALUE b c"


def test_refuses_a_wrong_batch(program):
    assert program.run("set", "a", "0").code == 0
    before = program.read("store.log")
    for batch, number in (("set a 1\nset b\n", 2), ("oops\n", 1), ("set a 1\ndel a\nget a\nset c 1\n", 3)):
        done = program.run("batch", stdin=batch)
        assert (done.code, done.out) == (2, "")
        assert f"line {number}" in done.err
    assert program.read("store.log") == before
