"""Marks tell of the program and not of the machine, and no program decides whether it is measured."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from proctor.domain.problem import Threshold
from proctor.programs.load import MORE_SECONDS, are_more_wanted
from proctor.programs.marks import NOISE, gold_share
from proctor.programs.rounds import (
    AGREEING,
    MAX_DOUBT,
    MIN_PAIRS,
    RoundsCompared,
    compare,
    figures,
    paired_ratio,
    unsettled,
)

WORK = Threshold("work_seconds", 3.0, "gold", True)
RATE = Threshold("throughput", 0.5, "gold", False)


def test_the_best_round_counts_for_speed_the_highest_for_memory_and_the_median_for_the_rest() -> None:
    names = ("work_seconds", "throughput_rps", "peak_memory_mib", "p95_ms", "error_rate", "once")
    rounds = [dict.fromkeys(names, number) for number in (3.0, 1.0, 2.0)]
    del rounds[0]["once"]
    assert figures(rounds) == {
        "work_seconds": 1.0,
        "throughput_rps": 3.0,
        "peak_memory_mib": 3.0,
        "p95_ms": 1.0,
        "error_rate": 2.0,
    }
    assert figures([]) == {}


@pytest.mark.parametrize(
    ("rounds", "names"),
    [
        ([(1.0, 100.0)], {"work_seconds", "throughput_rps"}),
        ([(1.0, 100.0), (1.0, 100.0)], {"work_seconds", "throughput_rps"}),
        ([(1.0, 100.0), (1.1, 90.0), (1.2, 81.0)], set()),
        ([(1.0, 100.0), (1.1, 90.0), (1.2, 79.0)], {"throughput_rps"}),
        ([(1.0, 100.0), (2.0, 100.0), (3.0, 99.0)], {"work_seconds"}),
        ([(9.0, 10.0), (1.0, 100.0), (5.0, 40.0), (1.0, 99.0), (1.2, 90.0)], set()),
        ([(0.0, 0.0)] * 3, set()),
    ],
)
def test_a_program_has_shown_its_speed_when_its_three_best_rounds_agree(
    rounds: list[tuple[float, float]], names: set[str]
) -> None:
    found = unsettled([{"work_seconds": seconds, "throughput_rps": rate, "cpu_seconds": 7} for seconds, rate in rounds])
    assert set(found) == names
    assert all(factor > NOISE for factor in found.values())


def rounds(*values: float, name: str = "work_seconds") -> list[dict[str, float]]:
    return [{name: value} for value in values]


def test_rounds_are_added_for_what_thresholds_ask_and_not_for_long() -> None:
    steady, varying = rounds(1.0, 1.0, 1.0), rounds(1.0, 2.0, 4.0)
    absolute = Threshold("work_seconds", 9.0, "s", True)
    for threshold in (WORK, absolute):
        assert are_more_wanted(varying, steady, [threshold], 0.0)
        assert not are_more_wanted(steady, steady, [threshold], 0.0)
        assert not are_more_wanted(varying, steady, [threshold], MORE_SECONDS)
    assert not are_more_wanted(varying, steady, [RATE, Threshold("error_rate", 1.0, "%", True)], 0.0)


def test_no_mark_is_lost_by_as_few_rounds_as_prove_a_full_one() -> None:
    assert compare(WORK, rounds(*[1.2] * AGREEING), rounds(*[1.0] * AGREEING)).is_final
    assert not compare(WORK, rounds(*[2.0] * AGREEING), rounds(*[1.0] * AGREEING)).is_final
    assert compare(WORK, rounds(*[2.0] * MIN_PAIRS), rounds(*[1.0] * MIN_PAIRS)) == RoundsCompared(
        (2.0, 1.0), is_final=True
    )


def test_what_slows_both_down_alike_costs_no_mark() -> None:
    """Load that grows all the time: no three rounds of either agree, every pair does."""
    pace = [1.5**number for number in range(MIN_PAIRS)]
    gold = rounds(*pace)
    assert "work_seconds" in unsettled(gold)
    for times in (1.0, 2.0, 10.0):
        found = compare(WORK, rounds(*(times * one for one in pace)), gold)
        assert found.is_final
        assert found.values is not None
        assert found.values[0] / found.values[1] == pytest.approx(times)


def test_a_ratio_that_leaves_the_mark_in_doubt_is_not_measured() -> None:
    program, gold = rounds(1, 30, 4, 2, 90, 12, 50, 3), rounds(20, 2, 50, 7, 3, 100, 1, 9)
    found = compare(WORK, program, gold)
    assert found.values is None
    assert "the machine is too busy: after 8 rounds" in found.reason


def test_a_requirement_is_not_decided_by_an_interval_around_its_bound() -> None:
    noise = [1.0, 0.98, 1.02, 0.99, 1.01, 1.0]
    pace = [1.6**number for number in range(MIN_PAIRS)]
    gold = rounds(*pace)
    program = rounds(*(3.0 * one * other for one, other in zip(pace, noise, strict=True)))
    assert compare(WORK, program, gold).values is not None
    assert compare(Threshold("work_seconds", 3.0, "gold", True, "R1"), program, gold).values is None


def test_a_program_cannot_make_itself_unmeasurable_by_varying() -> None:
    """Only noise that the gold solution has, too, is a doubt: to wait at random earns a low mark, not none."""
    draw = random.Random(7)
    pace = [1.4**number for number in range(8)]
    program = rounds(*(one * draw.choice([3.0, 60.0]) for one in pace))
    for gold in (rounds(*[1.0] * 8), rounds(*pace)):
        found = compare(WORK, program, gold)
        assert found.values is not None
        assert gold_share(WORK, found.values[0] / found.values[1]) == 0


@pytest.mark.parametrize("threshold", [WORK, RATE])
@pytest.mark.parametrize("spread", [0.05, 0.2, 0.4])
def test_gold_against_gold_has_a_full_mark_on_a_busy_machine(threshold: Threshold, spread: float) -> None:
    """Load that comes and goes, and luck that differs by round: a mark is had, and it is the right one."""
    draw = random.Random(11)
    name, sign = ("throughput_rps", -1) if threshold is RATE else ("work_seconds", 1)
    marks: list[float | None] = []
    for _ in range(60):
        both: tuple[list[float], list[float]] = [], []
        pace, found = 0.0, None
        while found is None or not (found.is_final or len(both[0]) == 12):
            pace = abs(pace + draw.gauss(0, 0.3))
            for one in both:
                one.append(math.exp(sign * (pace + abs(draw.gauss(0, spread)))))
            if len(both[0]) >= AGREEING:
                found = compare(threshold, *(rounds(*one, name=name) for one in both))
        marks.append(None if found.values is None else gold_share(threshold, found.values[0] / found.values[1]))
    known = [one for one in marks if one is not None]
    assert len(known) >= 0.9 * len(marks)
    assert sum(one >= 1 - MAX_DOUBT for one in known) >= 0.95 * len(known)


def test_what_a_load_generator_rounds_to_nothing_can_be_compared() -> None:
    assert paired_ratio(rounds(0.0, 0.0), rounds(0.0, 0.0), "work_seconds").ratio == pytest.approx(1)


def test_the_page_says_how_sure_a_ratio_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "scorecard.md").read_text(encoding="utf-8")
    assert MIN_PAIRS == 6
    assert "at least six pairs of rounds" in page
    assert f"differ by no more than {MAX_DOUBT:g}" in page
