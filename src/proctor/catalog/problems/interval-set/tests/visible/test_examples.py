def pairs(found):
    return [tuple(pair) for pair in found.pairs()]


def test_pairs_are_sorted_and_merged(program):
    lib = program.module
    assert pairs(lib.IntervalSet([(10, 12), (1, 5), (3, 8)])) == [(1, 8), (10, 12)]
    assert pairs(lib.IntervalSet()) == []


def test_subtracts(program):
    lib = program.module
    left, right = lib.IntervalSet([(0, 10)]), lib.IntervalSet([(3, 5), (8, 20)])
    assert pairs(left.difference(right)) == [(0, 3), (5, 8)]


def test_parses_ranges_with_inclusive_ends(program):
    assert pairs(program.module.parse("7-9,0")) == [(0, 1), (7, 10)]


def test_writes_text(program):
    assert program.module.IntervalSet([(7, 10), (0, 1), (-4, -1)]).text() == "-4--2,0,7-9"
    assert program.module.IntervalSet([]).text() == ""


def test_refuses_malformed_text(program):
    for text in ("1,,2", "a", "3-1", "1 2", "1-", "--3", "1,", ",", "1- 3", "1--", "1-2-3", "+1", "٣", "1_0"):
        with program.raises("ParseError"):
            program.module.parse(text)
    with program.raises("ValueError"):
        program.module.parse("x")
