"""How values are spread, taken one at a time."""

from __future__ import annotations


class Moments:
    """Number, sum and spread of values between -1 and 1; those of 0 and 1 are only counted."""

    __slots__ = ("_m2", "_mean", "_others", "ones", "zeros")

    def __init__(self) -> None:
        self.zeros = self.ones = self._others = 0
        self._mean = self._m2 = 0.0

    def count(self, zeros: int, ones: int) -> None:
        """Add so many values of 0 and of 1."""
        self.zeros += zeros
        self.ones += ones

    def repeat(self, value: float, times: int) -> None:
        """Add the same value, neither 0 nor 1, so many times; nothing else but it was added."""
        if times and self._others:
            raise ValueError("values of several kinds are added one by one")
        if times:
            self._others, self._mean = times, value

    def add(self, value: float) -> None:
        if value == 0.0:
            self.zeros += 1
        elif value == 1.0:
            self.ones += 1
        else:
            self._add_other(value)

    def _add_other(self, value: float) -> None:
        # Sums about the running mean (Welford): sums of plain squares would lose small spreads.
        self._others += 1
        step = value - self._mean
        self._mean += step / self._others
        self._m2 += step * (value - self._mean)

    @property
    def n(self) -> int:
        return self.zeros + self.ones + self._others

    @property
    def total(self) -> float:
        return self.ones + self._others * self._mean

    @property
    def is_binary(self) -> bool:
        return not self._others

    def squares(self, mean: float) -> float:
        """The sum of the squares of (value - mean)."""
        counted = self.zeros * mean**2 + self.ones * (1 - mean) ** 2
        return counted + self._m2 + self._others * (self._mean - mean) ** 2
