"""What using the command looks like."""


def lines(done):
    """The lines, without blanks at their ends: another check looks at those."""
    return [line.rstrip(" ") for line in done.out.splitlines()]


def test_lines_up_columns(program):
    done = program.run(stdin="name\tcity\nAda\tLondon\nAl\tX\n")
    assert (done.code, done.err) == (0, "")
    assert lines(done) == ["name  city", "Ada   London", "Al    X"]


def test_underlines_the_header(program):
    done = program.run("--header", "--right", "2", stdin="item\tprice\nbread\t3.20\ntea\t12\n")
    assert lines(done) == ["item   price", "-----  -----", "bread   3.20", "tea       12"]
    done = program.run("--header", stdin="\n \na\nbcd\n")
    assert [line for line in lines(done) if line] == ["a", "---", "bcd"]


def test_reads_a_file(program):
    done = program.run("rows.txt", "--separator", ";", files={"rows.txt": "a;b\nccc;d"}, stdin="not this")
    assert lines(done) == ["a    b", "ccc  d"]
