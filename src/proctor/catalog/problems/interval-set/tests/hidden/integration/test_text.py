import pytest


def pairs(found):
    return [tuple(pair) for pair in found.pairs()]


def test_parses_negative_numbers_and_spaces(program):
    parse = program.module.parse
    assert pairs(parse(" -4--2 ,0,  7-9 ")) == [(-4, -1), (0, 1), (7, 10)]
    assert pairs(parse("-3-3")) == [(-3, 4)]
    assert pairs(parse("12,1-5,3-8,007")) == [(1, 9), (12, 13)]
    assert pairs(parse("")) == []
    assert pairs(parse("   ")) == []


@pytest.mark.parametrize(("text", "item"), [("x", 1), ("1,2,x,y", 3), ("1-2,5-4,7", 2), ("1, ,2", 2), ("4,5,", 3)])
def test_the_error_names_the_item(program, text, item):
    with program.raises("ParseError", match=rf"at item {item}\b"):
        program.module.parse(text)


def test_operands_stay_as_they_were(program):
    lib = program.module
    left, right = lib.IntervalSet([(1, 4), (8, 9)]), lib.IntervalSet([(3, 8)])
    left.union(right)
    left.intersection(right)
    left.difference(right)
    left.gaps(0, 20)
    left.contains(2)
    left.find_room(2, 0)
    left.pairs().append((100, 200))
    left.text()
    assert pairs(left) == [(1, 4), (8, 9)]
    assert pairs(right) == [(3, 8)]
    right.union(left)
    assert pairs(right) == [(3, 8)]
