"""The end of an interval of grouped right-or-wrong samples, such that one more error never raises it.

An error can make groups more alike, and an interval that rests on how groups differ narrows: its lower end rises. The
end given here is the lowest that any result with these right answers, or more, would have. With one right answer
less there are all of these results to look at and some besides, so the end cannot be higher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

Groups = Mapping[tuple[int, int], int]
"""How many groups there are of each size and number of right answers."""


def lowest_end(groups: Groups, end: Callable[[float, float], float], least: Callable[[float], float]) -> float:
    """The lowest end of any result in which at least what is right in these groups is right.

    `end` takes a mean and the sum of the squares of (right - size * mean), and falls as these grow. `least` rises with
    the mean, and no end of a result with this mean is below it.
    """
    n = sum(size * count for (size, _), count in groups.items())
    right = sum(got * count for (_, got), count in groups.items())
    lowest = end(right / n, _most_squares(groups, right / n, 0))
    for total in range(right + 1, n + 1):
        if least(total / n) >= lowest:
            break
        lowest = min(lowest, end(total / n, _most_squares(groups, total / n, total - right)))
    return lowest


def _most_squares(groups: Groups, mean: float, more: int) -> float:
    """A bound for the sum of squares with so many more right answers, wherever they are; the sum itself for none.

    A square grows faster and faster, so no answer adds more than its share of what a group adds that gets all right:
    the groups that add most for each answer come first, the last of them in part.
    """
    squares = sum(count * (right - size * mean) ** 2 for (size, right), count in groups.items())
    gains = ((size + right - 2 * mean * size, (size - right) * count) for (size, right), count in groups.items())
    for gain, room in sorted(gains, reverse=True):
        taken = min(more, room)
        squares += taken * gain
        more -= taken
    return squares
