"""Large sets: made, combined, written, parsed and asked; every set is compared as a whole."""

from collections.abc import Callable

END = 160_000
"""Of the left set; the right one goes on to LAST."""
LAST = 168_000


def spread(count: int, step: int, length: int, seed: int) -> list[tuple[int, int]]:
    starts = ((n * 7919 + seed) % count * step for n in range(count))
    return [(start, start + length) for start in starts]


def is_left(number: int) -> bool:
    return number < END and number % 10 < 6


def is_right(number: int) -> bool:
    return number % 14 < 9


def text(holds: Callable[[int], bool]) -> str:
    """The numbers below LAST that are in a set, as the library writes them."""
    runs: list[list[int]] = []
    for number in filter(holds, range(LAST)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


BOTH = text(lambda number: is_left(number) and is_right(number))
EITHER = text(lambda number: is_left(number) or is_right(number))
ONLY_LEFT = text(lambda number: is_left(number) and not is_right(number))
GAPS = text(lambda number: number < END and not is_left(number))


def work(program) -> None:
    lib = program.module
    left = lib.IntervalSet(spread(END // 10, 10, 6, 1))
    right = lib.IntervalSet(spread(LAST // 14, 14, 9, 5))
    both, either = left.intersection(right), left.union(right)
    assert both.text() == BOTH, "the intersection is not as it should be"
    assert either.text() == EITHER, "the union is not as it should be"
    assert left.difference(right).text() == ONLY_LEFT, "the difference is not as it should be"
    assert left.gaps(0, END).text() == GAPS, "the gaps are not as they should be"
    assert lib.parse(EITHER).total() == either.total() == left.total() + right.total() - both.total()
    for number in range(0, END, 1_000):
        assert left.contains(number)
        assert not left.contains(number + 7)
    assert left.find_room(5, 0) == END - 4
