"""What using the library looks like."""


def test_plain_patterns(program):
    compile = program.module.compile
    assert compile("cat|dog").fullmatch("dog")
    assert not compile("cat|dog").fullmatch("dogs")
    assert compile("a(b|c)d").fullmatch("acd")
    assert compile("(|x)y").fullmatch("y")
    assert compile("()").fullmatch("")
    assert compile("").fullmatch("")
    assert not compile("").fullmatch("a")


def test_leftmost_longest(program):
    compile = program.module.compile
    assert compile("a|ab").search("xxab") == (2, 4)
    assert compile("b+").search("abbbab") == (1, 4)
    assert compile("x").search("abc") is None
    assert compile("(a|ab)(c|bcd)").search("abcd") == (0, 4)
    assert compile("a*").search("baa") == (0, 0)


def test_refuses_bad_groups(program):
    for pattern, place in (("a(b", 1), ("ab)", 2), ("((a)", 0), (")", 0), ("a|(b|", 2)):
        with program.raises("PatternError", match=f"at {place}$"):
            program.module.compile(pattern)
