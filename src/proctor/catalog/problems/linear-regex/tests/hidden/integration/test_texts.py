import time


def test_finds_all(program):
    findall = lambda pattern, text: [tuple(item) for item in program.module.compile(pattern).findall(text)]  # noqa: E731
    assert findall(r"\d+", "a12b3c456") == [(1, 3), (4, 5), (6, 9)]
    assert findall("aa", "aaaaa") == [(0, 2), (2, 4)]
    assert findall("a|ab|abc", "abcab") == [(0, 3), (3, 5)]
    assert findall("x", "abc") == []
    assert findall("^a", "aaa") == [(0, 1)]


def test_empty_matches(program):
    findall = lambda pattern, text: [tuple(item) for item in program.module.compile(pattern).findall(text)]  # noqa: E731
    assert findall("", "ab") == [(0, 0), (1, 1), (2, 2)]
    assert findall("a*", "baac") == [(0, 0), (1, 3), (4, 4)]
    assert findall("a*", "") == [(0, 0)]
    assert findall("a*|b", "aab") == [(0, 2), (2, 3)]
    assert findall("$", "ab") == [(2, 2)]


def test_replaces(program):
    compile = program.module.compile
    assert compile(r"\s+").replace(" a  b\n", "_") == "_a_b_"
    assert compile("x").replace("abc", "y") == "abc"
    assert compile("a").replace("banana", r"\1$0") == r"b\1$0n\1$0n\1$0"
    assert compile("").replace("ab", "-") == "-a-b-"
    assert compile("é+").replace("caféé!", "e") == "cafe!"


def test_refuses_huge_patterns(program):
    """Written out, most of them would not fit into this world. The second that is allowed counts double: machines are busy."""
    for pattern in ("(a{200}){200}", "((a{200}){200}){200}", "(" * 6 + "a" + "{200})" * 6, "(((((a{99}){99}){99}){99}){99}|b){9}"):
        started = time.perf_counter()
        with program.raises("PatternError", match="at 0$"):
            program.module.compile(pattern)
        assert time.perf_counter() - started < 2
    assert program.module.compile("(a{100}){100}").fullmatch("a" * 10_000)


def test_no_pattern_is_slow(program):
    """Backtracking would need longer than the universe has been there; a quarter of a minute is plenty without."""
    started = time.perf_counter()
    for pattern, text, found in (
        ("(a*)*b", "a" * 3000, None),
        ("(a|aa)+$", "a" * 3000 + "b", None),
        ("(a?){60}a{60}", "a" * 60, (0, 60)),
        ("(.*)(.*)(.*)(.*)(.*)x", "a" * 2000, None),
        ("(a|b|ab)*c", "ab" * 1500, None),
    ):
        assert program.module.compile(pattern).fullmatch(text) is (found is not None)
        assert program.module.compile(pattern).search(text) == found
    assert time.perf_counter() - started < 15


def test_long_texts(program):
    text = "the quick brown fox " * 5_000
    assert program.module.compile("q[a-z]*k").search("." * 50_000 + "quick") == (50_000, 50_005)
    assert not program.module.compile("[a-z ]*!").fullmatch(text)


def test_deep_nesting(program):
    pattern = "(" * 500 + "a" + ")" * 500
    assert program.module.compile(pattern).fullmatch("a")
    assert program.module.compile("(" * 500 + "a" + ")*" * 500).fullmatch("aaa")


def test_finding_all_is_not_slow(program):
    started = time.perf_counter()
    assert len(program.module.compile("a+").findall("ab" * 10_000)) == 10_000
    assert time.perf_counter() - started < 15
