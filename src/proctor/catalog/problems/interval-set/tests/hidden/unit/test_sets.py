import pytest

FAR = 10**30


def pairs(found):
    return [tuple(pair) for pair in found.pairs()]


def make(program, *given):
    return program.module.IntervalSet(list(given))


def test_touching_intervals_become_one(program):
    assert pairs(make(program, (5, 8), (1, 3), (3, 5))) == [(1, 8)]
    assert pairs(make(program, (1, 3), (4, 5))) == [(1, 3), (4, 5)]


def test_an_empty_interval_adds_nothing(program):
    assert pairs(make(program, (4, 4), (9, 9))) == []
    assert pairs(make(program, (2, 2), (5, 8), (11, 11))) == [(5, 8)]


def test_refuses_a_reversed_pair(program):
    with program.raises("ValueError"):
        make(program, (1, 2), (5, 4))
    with program.raises("ValueError"):
        make(program, (FAR, -FAR))


@pytest.mark.parametrize("pair", [(1.0, 2), (1, 2.5), ("1", 2), (None, 4), (True, 3), (-3, False)])
def test_refuses_what_is_no_integer(program, pair):
    with program.raises("TypeError"):
        make(program, (0, 1), pair)


def test_unites(program):
    assert pairs(make(program, (0, 3), (10, 12)).union(make(program, (2, 5), (20, 21)))) == [(0, 5), (10, 12), (20, 21)]
    assert pairs(make(program).union(make(program, (1, 2)))) == [(1, 2)]


def test_intersects(program):
    left, right = make(program, (0, 10), (20, 30)), make(program, (5, 7), (8, 22), (29, 40))
    assert pairs(left.intersection(right)) == [(5, 7), (8, 10), (20, 22), (29, 30)]
    assert pairs(left.intersection(make(program, (10, 20)))) == []


def test_contains_starts_and_not_ends(program):
    found = make(program, (3, 6), (10, 11), (-FAR, -FAR + 2))
    assert [number for number in range(14) if found.contains(number)] == [3, 4, 5, 10]
    assert [found.contains(-FAR + offset) for offset in (-1, 0, 1, 2)] == [False, True, True, False]
    assert make(program).contains(0) is False


def test_counts_the_elements(program):
    assert make(program, (0, 4), (2, 6), (10, 11)).total() == 7
    assert make(program, (-FAR, FAR)).total() == 2 * FAR
    assert make(program).total() == 0


def test_finds_gaps(program):
    found = make(program, (3, 6), (10, 12))
    assert pairs(found.gaps(0, 20)) == [(0, 3), (6, 10), (12, 20)]
    assert pairs(found.gaps(4, 11)) == [(6, 10)]
    assert pairs(found.gaps(5, 15)) == [(6, 10), (12, 15)]
    assert pairs(found.gaps(3, 6)) == []
    assert pairs(found.gaps(7, 7)) == []
    assert pairs(make(program).gaps(-2, 2)) == [(-2, 2)]


def test_finds_room(program):
    found = make(program, (3, 6), (8, 12))
    assert found.find_room(3, 0) == 0
    assert found.find_room(3, 1) == 12
    assert found.find_room(2, 1) == 1
    assert found.find_room(2, 4) == 6
    assert found.find_room(1, 7) == 7
    assert found.find_room(1, 50) == 50
    assert make(program).find_room(FAR, -5) == -5


def test_shifts(program):
    assert pairs(make(program, (3, 6), (8, 9)).shift(-4)) == [(-1, 2), (4, 5)]
    assert pairs(make(program, (3, 6)).shift(0)) == [(3, 6)]
