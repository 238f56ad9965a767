"""How often 95 % intervals of grouped and repeated samples hold the truth, by simulation with fixed seeds.

python bench/coverage.py [--rounds 2000]

Groups have chances of their own, drawn from a beta distribution whose spread is the intraclass correlation (ICC): at 0
the samples of a group have nothing in common, at 1 they are all right or all wrong. A sample asked several times is
simulated in the same way, its answers being the samples of a group. Prints the table of docs/reference/statistics.md.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass

from proctor.domain.estimate import Estimate
from proctor.metrics.intervals import MeanAccumulator

SHARES = (0.5, 0.8, 0.9, 0.95, 0.98)
CORRELATIONS = (0.0, 0.2, 0.5, 1.0)
ROUNDS = 2_000
"""What the page shows."""
BAR = 0.92
"""Cells below this are printed bold, and the page names them."""


@dataclass(frozen=True)
class Design:
    name: str
    sizes: tuple[int, ...]
    are_epochs: bool = False
    """Whether the answers of a group are those to one sample, which are averaged first."""

    def estimate(self, right: Sequence[int]) -> Estimate:
        """What Proctor says when so many of each group were right."""
        mean = MeanAccumulator()
        for group, (count, size) in enumerate(zip(right, self.sizes, strict=True)):
            if self.are_epochs:
                mean.add_value(count / size)
                continue
            for place in range(size):
                mean.add_value(float(place < count), f"g{group}")
        return mean.estimate()


def _unequal(groups: int) -> tuple[int, ...]:
    """Groups of 1 to 13 samples, and one of 31."""
    return tuple(31 if n == 0 else 1 + n % 5 * 3 for n in range(groups))


DESIGNS = (
    Design("3 groups of 50", (50,) * 3),
    Design("5 groups of 50", (50,) * 5),
    Design("10 groups of 5", (5,) * 10),
    Design("20 groups of 3", (3,) * 20),
    Design("20 groups of 10", (10,) * 20),
    Design("50 groups of 4", (4,) * 50),
    Design("100 groups of 11", (11,) * 100),
    Design("20 groups of 1 to 31", _unequal(20)),
    Design("50 groups of 1 to 31", _unequal(50)),
    Design("20 samples, 5 epochs", (5,) * 20, are_epochs=True),
    Design("50 samples, 5 epochs", (5,) * 50, are_epochs=True),
    Design("200 samples, 3 epochs", (3,) * 200, are_epochs=True),
)


def cover(design: Design, share: float, correlation: float, rounds: int) -> float:
    """The share of rounds in which the interval holds the true share."""
    rng = random.Random(f"{design.name} {share} {correlation}")
    hits = 0
    for _ in range(rounds):
        found = design.estimate([_draw(rng, size, share, correlation) for size in design.sizes])
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= share <= found.high
    return hits / rounds


def _draw(rng: random.Random, size: int, share: float, correlation: float) -> int:
    """How many of a group are right: beta-binomial, with this intraclass correlation."""
    if correlation == 1:
        return size if rng.random() < share else 0
    chance = share
    if correlation:
        spread = 1 / correlation - 1
        chance = rng.betavariate(share * spread, (1 - share) * spread)
    return sum(rng.random() < chance for _ in range(size))


def cell_text(covered: float) -> str:
    """A cell as the page shows it; one below the bar never rounds up to it."""
    return f"{100 * covered:.1f}" if covered >= BAR else f"**{min(91.9, 100 * covered):.1f}**"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    print(f"| | n | ICC | {' | '.join(f'{share:g}' for share in SHARES)} |")
    print("|---" * (3 + len(SHARES)) + "|")
    for design in DESIGNS:
        n = len(design.sizes) if design.are_epochs else sum(design.sizes)
        for correlation in CORRELATIONS:
            shown = (cell_text(cover(design, share, correlation, rounds)) for share in SHARES)
            print(f"| {design.name} | {n} | {correlation:g} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
