import pytest


def matching(program, pattern, texts):
    compiled = program.module.compile(pattern)
    return [text for text in texts if compiled.fullmatch(text)]


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        ("a*", ["", "a", "aaa", "b"], ["", "a", "aaa"]),
        ("ab+", ["a", "ab", "abb", "abab"], ["ab", "abb"]),
        ("ab?c", ["ac", "abc", "abbc"], ["ac", "abc"]),
        ("(ab)*", ["", "ab", "abab", "aba"], ["", "ab", "abab"]),
        ("(a|b)+c", ["c", "abbac", "abc"], ["abbac", "abc"]),
        ("(a*)*", ["", "aaaa", "b"], ["", "aaaa"]),
        ("(a?)+", ["", "aa"], ["", "aa"]),
        ("()*", ["", "a"], [""]),
    ],
)
def test_repeats(program, pattern, texts, expected):
    assert matching(program, pattern, texts) == expected


@pytest.mark.parametrize(
    ("pattern", "counts"),
    [("a{3}", [3]), ("a{2,}", [2, 3, 4, 5, 6]), ("a{2,4}", [2, 3, 4]), ("a{0}", [0]), ("a{0,1}", [0, 1]), ("(a{2}){1,2}", [2, 4]), ("a{1,1}a{2}", [3])],
)
def test_counts(program, pattern, counts):
    compiled = program.module.compile(pattern)
    assert [count for count in range(7) if compiled.fullmatch("a" * count)] == counts
    assert not program.module.compile("a{200}").fullmatch("a" * 199)
    assert program.module.compile("a{200}").fullmatch("a" * 200)


CHARACTERS = ["a", "b", "z", "5", "-", "]", "^", "\\", "_", " ", "\n", "é"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[ab]", ["a", "b"]),
        ("[a-z]", ["a", "b", "z"]),
        ("[^a-z5]", ["-", "]", "^", "\\", "_", " ", "\n", "é"]),
        ("[]a]", ["a", "]"]),
        ("[^]a]", ["b", "z", "5", "-", "^", "\\", "_", " ", "\n", "é"]),
        ("[-a]", ["a", "-"]),
        ("[a-]", ["a", "-"]),
        ("[a^]", ["a", "^"]),
        (r"[\]\\]", ["]", "\\"]),
        (r"[\d_]", ["5", "_"]),
        (r"[^\s\w]", ["-", "]", "^", "\\", "é"]),
        (r"[\D]", ["a", "b", "z", "-", "]", "^", "\\", "_", " ", "\n", "é"]),
        ("[a-a.*]", ["a"]),
        (r"[\--\]]", ["5", "]", "\\", "-"]),
    ],
)
def test_sets(program, pattern, expected):
    assert sorted(matching(program, pattern, CHARACTERS)) == sorted(expected)


@pytest.mark.parametrize(
    ("pattern", "texts", "expected"),
    [
        (".", ["a", "\n", "", "é", "\r"], ["a", "é", "\r"]),
        (r"\d", ["0", "9", "a", "٣"], ["0", "9"]),
        (r"\w", ["a", "Z", "0", "_", "é", "-"], ["a", "Z", "0", "_"]),
        (r"\s", [" ", "\t", "\n", "\r", "\f", "\v", "\xa0", "a"], [" ", "\t", "\n", "\r", "\f", "\v"]),
        (r"\D\W\S", ["a-b", "1-b", "aab", "a- "], ["a-b"]),
        (r"\n\t\r", ["\n\t\r"], ["\n\t\r"]),
        (r"\.\*\[\]\(\)\{\}\|\+\?\^\$\\", [".*[](){}|+?^$\\"], [".*[](){}|+?^$\\"]),
        (r"\-\ \"", ['- "', "x"], ['- "']),
    ],
)
def test_classes_and_escapes(program, pattern, texts, expected):
    assert matching(program, pattern, texts) == expected


def test_anchors(program):
    search = lambda pattern, text: program.module.compile(pattern).search(text)  # noqa: E731
    assert search("^a", "ba") is None
    assert search("^a", "b\na") is None
    assert search("a$", "ab") is None
    assert search("a$", "a\nb") is None
    assert search("a$", "aa") == (1, 2)
    assert search("^", "ab") == (0, 0)
    assert search("$", "ab") == (2, 2)
    assert search("^$", "") == (0, 0)
    assert search("(^a|b)c", "ac bc") == (0, 2)
    assert search("(^a|b)c", "xac bc") == (4, 6)
    assert search("x^y", "xy") is None
    assert program.module.compile("a^b|c$").fullmatch("c")


@pytest.mark.parametrize(
    ("pattern", "place"),
    [("[a", 0), ("x[]", 1), ("[^]", 0), ("[b-a]", 1), (r"[\d-z]", 1), (r"[a-\w]", 1), ("a]", 1), ("[a\\", 2), (r"[\q]", 1)],
)
def test_refuses_bad_sets(program, pattern, place):
    with program.raises("PatternError", match=f"at {place}$"):
        program.module.compile(pattern)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        ("*", 0),
        ("a|*", 2),
        ("(+a)", 1),
        ("a**", 2),
        ("a{2}{3}", 4),
        ("a+?", 2),
        ("^*", 1),
        ("{2}", 0),
        ("a{", 1),
        ("a{x}", 1),
        ("a{,3}", 1),
        ("a{2", 1),
        ("a{ 2}", 1),
        ("a{3,2}", 1),
        ("a{201}", 1),
        ("a{1,201}", 1),
        ("a}", 1),
    ],
)
def test_refuses_bad_repeats(program, pattern, place):
    with program.raises("PatternError", match=f"at {place}$"):
        program.module.compile(pattern)
    with program.raises("ValueError"):
        program.module.compile(pattern)


@pytest.mark.parametrize(("pattern", "place"), [("\\", 0), ("ab\\", 2), (r"\q", 0), (r"a\1", 1), (r"\b", 0), (r"(\x)", 1)])
def test_refuses_bad_escapes(program, pattern, place):
    with program.raises("PatternError", match=f"at {place}$"):
        program.module.compile(pattern)
