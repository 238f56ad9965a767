"""Which of several sizes is meant: one that was taken back, or that only describes the task, counts no more."""

from __future__ import annotations

import re

from proctor.planner.phrases import Phrases
from proctor.planner.reading import Reading, Size
from proctor.planner.slots.sizes import BARE_FROM


def settle_sizes(reading: Reading) -> None:
    """`a third, no, half` is a half; `the same in two sentences? 50 items` are 50."""
    kept: list[Size] = []
    for size in sorted(reading.sizes, key=lambda size: size.at):
        if kept and is_taken_back(reading.phrases, kept[-1].at, size.at):
            kept.pop()
        kept.append(size)
    if len(kept) > max(1, len({name for name, _ in reading.benchmarks})):
        kept = [size for size in kept if not _describes(reading.phrases, size)] or kept
    if len(kept) != len(reading.sizes):
        reading.sizes = kept


_ARTICLE = re.compile(r"(?:^|[,;:.(]|\b(?:with|mit|avec|con|for))\s*(?:an?|eine?[mr]?|une?|una)\s+$")


def read_single(reading: Reading) -> None:
    """`haiku on piqa, a question`: an article counts where its noun stands alone behind what is to be asked."""
    phrases = reading.phrases
    for at in list(phrases.free("sample")) if not reading.sizes else ():
        before, behind = phrases.text[: phrases.items[at].start].lower(), phrases.text[phrases.items[at].end :]
        is_alone = re.match(r"\s*(?:$|[,;:.!)]|(?:of|from|von|aus|de|du|des)\b)", behind)
        if _ARTICLE.search(before) and is_alone and phrases.items[at].means("default") is None:
            reading.sizes.append(Size("count", 1, at))
            phrases.use(at)
            return


def is_taken_back(phrases: Phrases, first: int, second: int) -> bool:
    """Whether the words between two places say that the second is meant instead of the first."""
    between = range(first + 1, second)
    is_replaced = any(phrases.items[at].kind == "suffixexcept" and phrases.words(at) in _RATHER for at in between)
    return is_replaced or any(phrases.items[at].kind == "correction" for at in between)


_RATHER = ("말고", "말고는", "아닌")
"""`200문제 말고 80문제`: behind a size these replace it."""


def _describes(phrases: Phrases, size: Size) -> bool:
    """Beside another size, so few of something are what a task is made of, unless it says `only`."""
    around = phrases.items[max(0, size.at - 2) : size.at + 3]
    return size.kind == "count" and size.value < BARE_FROM and not any(item.kind in _MEANT for item in around)


_MEANT = ("only", "atmost", "correction", "limit")
