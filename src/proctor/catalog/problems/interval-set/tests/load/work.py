"""Large sets: made, combined, written, parsed and asked."""


def spread(count: int, step: int, length: int, seed: int) -> list[tuple[int, int]]:
    starts = ((n * 7919 + seed) % count * step for n in range(count))
    return [(start, start + length) for start in starts]


def work(program) -> None:
    lib = program.module
    left = lib.IntervalSet(spread(40_000, 10, 6, 1))
    right = lib.IntervalSet(spread(30_000, 14, 9, 5))
    both = left.intersection(right)
    either = left.union(right)
    assert either.total() == left.total() + right.total() - both.total()
    assert lib.parse(either.text()).total() == either.total()
    assert left.difference(right).union(both).total() == left.total()
    assert left.gaps(0, 400_000).total() == 160_000
    for number in range(0, 400_000, 1_000):
        assert left.contains(number)
        assert not left.contains(number + 7)
    assert left.find_room(5, 0) == 399_996
