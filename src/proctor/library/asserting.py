"""Results that tests assert on: a failed assertion says n, the interval and which samples were wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NoReturn

from proctor.domain.documents.comparison import Comparison
from proctor.domain.documents.estimate import MetricEstimate
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.result import TrialResult
from proctor.domain.errors import RunError, UserError, did_you_mean
from proctor.domain.run import RunStatus
from proctor.domain.text import shorten, visible
from proctor.library.run import Run
from proctor.library.stored import Home, compare
from proctor.metrics.rounding import SAME, decimal_text
from proctor.reports.figures import estimate_text, plural
from proctor.reports.trust import counted_wrong

MAX_WRONG = 5
"""How many wrong samples a failure lists."""
MAX_TEXT = 100
SHORT_WRONG, SHORT_TEXT = 3, 40
"""What pytest shows of an assertion without cutting it off: eight lines, 640 characters."""


class Bound(float):
    """A number that remembers which metric it is of, so that a failed assertion can say more than two numbers."""

    measured: Measured

    @classmethod
    def of(cls, value: float, measured: Measured) -> Bound:
        bound = cls(value)
        bound.measured = measured
        return bound


class Measured:
    """One metric of one model on one benchmark: `value`, `lower` and `upper` of its 95 % interval, and `n`."""

    def __init__(self, name: str, estimate: MetricEstimate, result: EvaluationResult) -> None:
        self.name, self.estimate, self._result = name, estimate, result

    @property
    def n(self) -> int:
        return self.estimate.n

    @property
    def value(self) -> Bound:
        return self._bound(self.estimate.value)

    @property
    def lower(self) -> Bound:
        """The interval's lower end; an AssertionError where nothing was measured."""
        return self._bound(self.estimate.low)

    @property
    def upper(self) -> Bound:
        return self._bound(self.estimate.high)

    def assert_at_least(self, bar: float) -> None:
        """The interval's lower end reaches `bar`, and so does the value with what has no score counted as wrong."""
        __tracebackhide__ = True
        if self.lower < bar - SAME:
            self._fail(f"the interval's lower end is below {bar:.12g}")
        self._refuse_unmeasured(bar)

    def assert_value_at_least(self, bar: float) -> None:
        """The value reaches `bar`, as `--fail-under` asks; near the bar, chance decides."""
        __tracebackhide__ = True
        if self.value < bar - SAME:
            self._fail(f"its value is below {bar:.12g}")
        self._refuse_unmeasured(bar)

    def _refuse_unmeasured(self, bar: float) -> None:
        __tracebackhide__ = True
        for worst, what in counted_wrong(self._result.summary, self.estimate):
            if worst < bar - SAME:
                value = decimal_text(worst, limits=(0.0, bar, 1.0))
                self._fail(f"with {what} counted as wrong it is {value}, below {bar:.12g}")

    def explain(self, *, wrong: int = MAX_WRONG, text: int = MAX_TEXT) -> list[str]:
        """What it is, with n and interval, what failed, and the first wrong samples."""
        return [repr(self), *self._result.explain(wrong=wrong, text=text)]

    def explain_briefly(self) -> list[str]:
        """As much of it as pytest shows below an assertion."""
        return self.explain(wrong=SHORT_WRONG, text=SHORT_TEXT)

    def __repr__(self) -> str:
        return f"{self.name} of {self._result.title}: {estimate_text(self.estimate)}"

    def _bound(self, number: float | None) -> Bound:
        __tracebackhide__ = True
        if number is None:
            self._fail("it has no interval" if self.estimate.value is not None else "it could not be measured")
        return Bound.of(number, self)

    def _fail(self, why: str) -> NoReturn:
        __tracebackhide__ = True
        first, *rest = self.explain()
        raise AssertionError("\n".join([f"{first}; {why}", *rest]))


class EvaluationResult:
    """One model on one benchmark; its metrics are attributes: `result.accuracy.lower`."""

    def __init__(self, summary: EvaluationSummary, run: Run, home: Home = None) -> None:
        self.summary, self.run, self._home = summary, run, home

    @property
    def model(self) -> str:
        return self.summary.model

    @property
    def benchmark(self) -> str:
        return self.summary.benchmark

    @property
    def failed(self) -> int:
        """Trials that a fault of the provider, the network or the machine ended: they are in no score."""
        return self.summary.failed

    @property
    def title(self) -> str:
        return visible(self.summary.title)

    @property
    def metrics(self) -> Mapping[str, Measured]:
        return {name: Measured(name, estimate, self) for name, estimate in self.summary.metrics.items()}

    def __getattr__(self, name: str) -> Measured:
        if name.startswith("_"):
            raise AttributeError(name)
        metrics = self.summary.metrics
        if name not in metrics:
            raise AttributeError(
                f"{self.title} has no metric {name!r}.{did_you_mean(name, metrics)} It has: {', '.join(metrics)}."
            )
        return Measured(name, metrics[name], self)

    def __repr__(self) -> str:
        metrics = ", ".join(f"{name} {estimate_text(estimate)}" for name, estimate in self.summary.metrics.items())
        return f"{self.title}: {metrics or 'nothing was measured'}"

    def wrong(self) -> Iterator[TrialResult]:
        """The answers that got less than the full mark of the first scorer, as they are stored."""
        first = next(iter(self.summary.scorers), None)
        for row in self.run.results():
            score = row.scores.get(first) if first is not None else None
            is_ours = row.model == self.model and row.benchmark == self.benchmark
            if is_ours and score is not None and score.value is not None and score.value < 1:
                yield row

    def assert_not_worse_than(self, other: EvaluationResult) -> None:
        """No significant loss against `other` on the samples that both answered."""
        __tracebackhide__ = True
        pair, is_reversed = self._compared(other)
        if pair.better == (pair.b if is_reversed else pair.a).name:
            raise AssertionError(_verdict(pair, is_reversed))

    def assert_better_than(self, other: EvaluationResult) -> None:
        """A significant gain over `other` on the samples that both answered."""
        __tracebackhide__ = True
        pair, is_reversed = self._compared(other)
        if pair.better != (pair.a if is_reversed else pair.b).name:
            raise AssertionError(_verdict(pair, is_reversed))

    def explain(self, *, wrong: int = MAX_WRONG, text: int = MAX_TEXT) -> list[str]:
        """What failed, and the first wrong samples: what they were, what was expected, what was answered."""
        lines = []
        if self.failed:
            lines.append(f"{plural(self.failed, 'trial')} failed, in no score")
        shown = list(islice(self.wrong(), wrong + 1))
        if shown:
            lines.append("wrong samples:")
            lines += [f"  {_sample_line(row, text)}" for row in shown[:wrong]]
        if len(shown) > wrong:
            lines.append(f"  … all of them: proctor samples {self.run.id} --wrong")
        return lines

    def _compared(self, other: EvaluationResult) -> tuple[Comparison, bool]:
        """The pair of the two, and whether it has this one first."""
        runs = [other.run] if other.run.id == self.run.id else [other.run, self.run]
        for pair in compare(*runs, benchmarks=self.benchmark, flips=MAX_WRONG, home=self._home):
            sides = [(side.run_id, side.side) for side in (pair.a, pair.b)]
            ours, theirs = (self.run.id, self.summary.side), (other.run.id, other.summary.side)
            if sides in ([theirs, ours], [ours, theirs]):
                return pair, sides[0] == ours
        raise UserError(f"{self.title} and {other.title} cannot be compared: they share no benchmark.")


class Evaluated:
    """What was evaluated, one result for each model and benchmark: `evaluated["demo/strong"].accuracy.lower`.

    Where there is only one, its metrics are attributes: `evaluated.accuracy.lower`.
    """

    def __init__(self, run: Run, home: Home = None) -> None:
        if run.status is not RunStatus.COMPLETED:
            raise RunError(f"Run {run.id} is {run.status.value}: {run.error or 'proctor show says why'}")
        self.run = run
        self.results = [EvaluationResult(summary, run, home) for summary in run.summary.evaluations]

    def __iter__(self) -> Iterator[EvaluationResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, name: str | tuple[str, str]) -> EvaluationResult:
        """The result of a model, or of a model on a benchmark; raises a UserError where there is none or several."""
        side, benchmark = name if isinstance(name, tuple) else (name, None)
        found = [
            one for one in self.results if side in (one.summary.side, one.model) and benchmark in (None, one.benchmark)
        ]
        if len(found) == 1:
            return found[0]
        raise UserError(f"{len(found) or 'no'} results fit {name!r}. There are: {self._titles()}.")

    def __getattr__(self, name: str) -> Measured:
        if name.startswith("_"):
            raise AttributeError(name)
        if len(self.results) != 1:
            raise AttributeError(f"There are {len(self.results)} results: name one, as in [model]: {self._titles()}.")
        return self.results[0].__getattr__(name)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.results))

    def _titles(self) -> str:
        return ", ".join(one.title for one in self.results)


def _verdict(pair: Comparison, is_reversed: bool) -> str:
    flips = pair.flips.gained if is_reversed else pair.flips.lost
    lines = [f"{visible(pair.verdict)} (n={pair.n:,}, {pair.test})"]
    if flips.count:
        lines.append(f"{plural(flips.count, 'sample')} only the other got right:")
        lines += [
            f"  {visible(sample.sample_id)}: {_short(sample.input, MAX_TEXT)}" for sample in flips.samples[:MAX_WRONG]
        ]
    return "\n".join(lines)


def _sample_line(row: TrialResult, longest: int) -> str:
    score = next(iter(row.scores.values()), None)
    answer = (score.answer if score is not None else None) or row.response or "nothing"
    asked, expected, got = (_short(text, longest) for text in (row.input, row.target, answer))
    return f"{visible(row.sample_id)}: {asked} expected {expected}, got {got}"


def _short(text: str | None, longest: int) -> str:
    return repr(shorten(visible(" ".join(text.split())), longest)) if text is not None else "nothing in particular"
