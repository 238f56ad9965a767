"""Sample and response in, score out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from proctor.domain.artifacts import Artifacts
from proctor.domain.problem import Problem
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Sandbox
from proctor.domain.score import Score
from proctor.domain.workspace import Runner

F = TypeVar("F", bound=Callable[..., Any])


class ScorerTraits(Struct, frozen=True):
    """What is known of every scorer that a factory makes, before one is made and long after."""

    needs_target: bool = True
    """Whether a sample without a target cannot be scored."""
    has_votes: bool = True
    """Whether two answers can be told to be the same; not where a whole text or program is marked."""
    has_coverage: bool = False
    """Whether its marks are of what was measured: each score's details then say how much it `covers`."""
    compares_values: bool = False
    """Whether it compares an answer with the target by value: what it calls right is one answer, however written."""
    reads_numbers: bool = False
    """Whether its answers are numbers or formulas, of which some are equal that are not written alike."""


def traits(
    *,
    needs_target: bool = True,
    has_votes: bool = True,
    has_coverage: bool = False,
    compares_values: bool = False,
    reads_numbers: bool = False,
) -> Callable[[F], F]:
    """Say of a scorer's factory what differs from other scorers."""

    made = ScorerTraits(needs_target, has_votes, has_coverage, compares_values, reads_numbers)

    def attach(factory: F) -> F:
        factory.scorer_traits = made  # type: ignore[attr-defined]
        return factory

    return attach


@runtime_checkable
class HasTraits(Protocol):
    """A scorer's factory that says what its scorers have in common, as `traits` makes it."""

    scorer_traits: ScorerTraits


def traits_of(factory: object) -> ScorerTraits:
    """What a scorer's factory says of its scorers."""
    return factory.scorer_traits if isinstance(factory, HasTraits) else ScorerTraits()


class Control(Struct, frozen=True):
    """An answer that a scorer must be able to score where it fails on another one."""

    response: Response
    kind: str
    """What it is, in words: 'the reference solution'."""
    least: float = 0.0
    """The mark it must get; with less, the place or the scorer is broken."""


class Scorer(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever the same response could get another score."""
        ...

    async def score(self, sample: Sample, response: Response) -> Score:
        """Raises where it cannot score; the engine then tries a known-good answer, to tell whose doing that is.

        Answers are timed in the thread this runs in: one that computes for longer than a few milliseconds is a
        SlowScorer, or computes in a thread.
        """
        ...


@runtime_checkable
class SlowScorer(Protocol):
    """A scorer that needs long for some answers; these it scores in another process, where it is sent by pickle."""

    def is_slow_for(self, response: Response) -> bool:
        """Whether scoring this answer may take more than a few milliseconds; asked of every answer: quick."""
        ...


@runtime_checkable
class NeedsSandbox(Protocol):
    """A scorer that runs code: it scores nothing until it has been given a sandbox."""

    @property
    def needs_sandbox(self) -> bool: ...

    def with_sandbox(self, sandbox: Sandbox) -> Scorer:
        """The same scorer, running code there."""
        ...


def give_sandbox(scorer: Scorer, sandbox: Sandbox) -> Scorer:
    """The scorer with the sandbox where it needs one, else as it is."""
    return scorer.with_sandbox(sandbox) if isinstance(scorer, NeedsSandbox) else scorer


@runtime_checkable
class HasGolds(Protocol):
    """A scorer that knows answers which must pass or fail, so that a sandbox can be tried before a model is asked."""

    def golds(self, sample: Sample) -> tuple[str, str] | None:
        """An answer that must pass and one that must fail; None where the sample has no solution."""
        ...

    def for_golds(self) -> Scorer:
        """The scorer to try those with: as quick as can be, and otherwise the same."""
        ...


FindProblem = Callable[[str], Problem]


@runtime_checkable
class NeedsRunner(Protocol):
    """A scorer of whole programs: it scores nothing until it has been given a runner."""

    @property
    def needs_runner(self) -> bool: ...

    def with_runner(self, runner: Runner, find: FindProblem, artifacts: Artifacts | None = None) -> Scorer:
        """The same scorer, marking there; `find` gives a problem by the id in a sample's metadata."""
        ...


@runtime_checkable
class Controlled(Protocol):
    """A scorer with known-good answers of its own; others are tried with the sample's target, or an empty answer."""

    def control(self, sample: Sample) -> Control | None:
        """None where a failure says nothing about the answer: what it depends on is out of the answer's reach."""
        ...


@runtime_checkable
class Selective(Protocol):
    """A scorer that cannot score every sample, and can tell which: those are refused before a model is asked."""

    @property
    def name(self) -> str: ...

    def obstacle(self, sample: Sample) -> str | None:
        """Why this sample cannot be scored, whatever is answered; None when it can be. Asked of every sample: quick."""
        ...


@runtime_checkable
class NeedsLikelihoods(Protocol):
    """A scorer of log-likelihoods: only a model that ScoresTexts gives what it scores."""

    @property
    def name(self) -> str: ...

    @property
    def needs_likelihoods(self) -> bool: ...
