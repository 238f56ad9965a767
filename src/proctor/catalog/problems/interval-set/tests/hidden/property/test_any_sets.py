"""Against the obvious model: a Python set of numbers."""

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

ends = st.integers(-30, 30)
some_pairs = st.lists(st.tuples(ends, ends).map(lambda pair: tuple(sorted(pair))), max_size=8)


def numbers(pairs):
    return {number for start, end in pairs for number in range(start, end)}


def make(program, given_pairs):
    return program.module.IntervalSet(given_pairs)


@settings(max_examples=60, phases=[Phase.generate])
@given(some_pairs)
def test_any_pairs_come_out_in_shortest_form(program, given_pairs):
    found = [tuple(pair) for pair in make(program, given_pairs).pairs()]
    flat = [end for pair in found for end in pair]
    assert numbers(found) == numbers(given_pairs)
    assert all(left < right for left, right in zip(flat, flat[1:]))


@settings(max_examples=40, phases=[Phase.generate])
@given(some_pairs, some_pairs)
def test_union_of_any_two_sets(program, left, right):
    assert numbers(make(program, left).union(make(program, right)).pairs()) == numbers(left) | numbers(right)


@settings(max_examples=40, phases=[Phase.generate])
@given(some_pairs, some_pairs)
def test_intersection_of_any_two_sets(program, left, right):
    assert numbers(make(program, left).intersection(make(program, right)).pairs()) == numbers(left) & numbers(right)


@settings(max_examples=40, phases=[Phase.generate])
@given(some_pairs, some_pairs)
def test_difference_of_any_two_sets(program, left, right):
    assert numbers(make(program, left).difference(make(program, right)).pairs()) == numbers(left) - numbers(right)


@settings(max_examples=40, phases=[Phase.generate])
@given(some_pairs, ends, st.integers(0, 40))
def test_the_gaps_and_the_set_fill_any_range(program, given_pairs, start, length):
    end = start + length
    assert numbers(make(program, given_pairs).gaps(start, end).pairs()) == set(range(start, end)) - numbers(given_pairs)


@settings(max_examples=40, phases=[Phase.generate])
@given(some_pairs, ends, st.integers(1, 12))
def test_room_is_the_first_there_is(program, given_pairs, start, length):
    taken = numbers(given_pairs)
    expected = next(n for n in range(start, 100) if taken.isdisjoint(range(n, n + length)))
    assert make(program, given_pairs).find_room(length, start) == expected


@settings(max_examples=40, phases=[Phase.generate])
@given(st.sets(st.integers(-12, 12)))
def test_any_set_survives_being_written_and_parsed(program, wanted):
    edges = sorted({number for number in wanted if number - 1 not in wanted})
    runs = [(start, next(n for n in range(start, 99) if n not in wanted)) for start in edges]
    text = make(program, runs).text()
    expected = ",".join(str(start) if end == start + 1 else f"{start}-{end - 1}" for start, end in runs)
    assert text == expected
    assert numbers(program.module.parse(text).pairs()) == wanted
