import json


def fmt(program, text):
    done = program.run("fmt", stdin=text)
    assert done.code == 0, done.err
    return done.out


def test_every_kind_of_value_as_json(program):
    text = r"""
    true = true  _x-1 = [ ] nested = [[1, "a"], [], false,]
    zero = -0 small = -007 big = 9_007_199_254_740_991
    text = "tab\t quote\" back\\ line\n euro \u{20ac} \u{1F600} é # {no comment}"
    empty {} # comment = 1
    s "a b" { x = 1 } s "" { x = 2 } s "10" {}
    """
    done = program.run("json", stdin=text)
    assert done.code == 0, done.err
    assert json.loads(done.out) == {
        "true": True,
        "_x-1": [],
        "nested": [[1, "a"], [], False],
        "zero": 0,
        "small": -7,
        "big": 9007199254740991,
        "text": 'tab\t quote" back\\ line\n euro € 😀 é # {no comment}',
        "empty": {},
        "s": {"a b": {"x": 1}, "": {"x": 2}, "10": {}},
    }
    assert json.loads(program.run("json", stdin="# nothing\n").out) == {}


def test_formats_lists_and_integers(program):
    assert fmt(program, "a=[ 1,2 ,\n3, ]b=[[],[ -007,[-0]]]c=[\n]d=1_000") == "a = [1, 2, 3]\nb = [[], [-7, [0]]]\nc = []\nd = 1000\n"
    assert fmt(program, "") == ""
    assert fmt(program, " \n\t\n") == ""


def test_indents_blocks(program):
    assert fmt(program, "a{b=1 c=2}") == "a {\n  b = 1\n  c = 2\n}\n"
    assert fmt(program, 'a "l"{b{c "" {\nd = 1}}}') == 'a "l" {\n  b {\n    c "" {\n      d = 1\n    }\n  }\n}\n'
    assert fmt(program, 'a\n"x"\n{ }') == 'a "x" {}\n'


def test_separates_blocks_by_blank_lines(program):
    text = "a = 1\n\n\nb = 2\nc {}\nd {\n\n  e {}\n  f = 1\n}\n# of g\ng = 1\nh {}\n# end"
    expected = "a = 1\nb = 2\n\nc {}\n\nd {\n  e {}\n\n  f = 1\n}\n\n# of g\ng = 1\n\nh {}\n\n# end\n"
    assert fmt(program, text) == expected


def test_formats_strings(program):
    text = 'a = "\\u{41}\\u{00e9}\\u{1}\\u{7F}\\u{0}\\u{1b}\\"\\\\\\n\\t\t/\'\\u{a0}"'
    assert fmt(program, text) == 'a = "Aé\\u{1}\\u{7f}\\u{0}\\u{1b}\\"\\\\\\n\\t\\t/\'\u00a0"\n'
    assert fmt(program, 'b "\\u{9}\\u{a}\\u{22}" {}') == 'b "\\t\\n\\"" {}\n'


def test_keeps_comments_before_entries(program):
    text = "#one  \n\n  # two\t\na # in the middle\n = [1, # inside\n  2]\n  # of b\nb = 1\n"
    assert fmt(program, text) == "#one\n# two\n# in the middle\n# inside\na = [1, 2]\n# of b\nb = 1\n"
    assert fmt(program, "a # before the brace\n{ # in it\n b = 1 }") == "# before the brace\na {\n  # in it\n  b = 1\n}\n"


def test_keeps_comments_at_the_end(program):
    assert fmt(program, "a { b = 1\n # end of a\n #and more\n}") == "a {\n  b = 1\n  # end of a\n  #and more\n}\n"
    assert fmt(program, "a { # only this\n}") == "a {\n  # only this\n}\n"
    assert fmt(program, "# alone") == "# alone\n"
    assert fmt(program, "a = 1\n#last") == "a = 1\n#last\n"


def test_keeps_a_comment_beside_its_setting(program):
    text = 'a = 1 # of a\nb = [1,\n2]#of b\n# of c\nc = "x"\n# end\n'
    assert fmt(program, text) == 'a = 1  # of a\nb = [1, 2]  #of b\n# of c\nc = "x"\n# end\n'
    assert fmt(program, "o { a = 1 b = 2 # of b\n}") == "o {\n  a = 1\n  b = 2  # of b\n}\n"


def test_refuses_other_arguments(program):
    for arguments in ([], ["format"], ["json", "--check"], ["fmt", "--write"], ["fmt", "--check", "x"]):
        done = program.run(*arguments, stdin="a = 1\n")
        assert (done.code, done.out) == (2, ""), arguments


def test_checks_without_printing(program):
    assert [program.run("fmt", "--check", stdin=text).code for text in ("a = 1\n", "a=1\n", "a = 1")] == [0, 3, 3]
    done = program.run("fmt", "--check", stdin="a = [1,2]\n")
    assert (done.code, done.out) == (3, "")
