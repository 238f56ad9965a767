"""From a scorer's name and options to the scorer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path

from proctor import plugins
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import BenchmarkError, NotFoundError, UserError
from proctor.domain.scorer import Scorer

CUSTOM = "python://"


def create_scorers(specs: Iterable[ScorerSpec], folder: Path | None = None) -> tuple[Scorer, ...]:
    """Make the scorers of one benchmark; two of one name are refused, for the scores of one would hide the other's."""
    made: dict[str, Scorer] = {}
    for spec in specs:
        scorer = create_scorer(spec, folder)
        if scorer.name in made:
            raise BenchmarkError(
                f"{_place(spec)}Two scorers would both be called '{scorer.name}', and the scores of one would hide the "
                f"other's: {_way_out(spec, scorer)}."
            )
        made[scorer.name] = scorer
    return tuple(made.values())


def create_scorer(spec: ScorerSpec, folder: Path | None = None) -> Scorer:
    """Make a scorer; the module of a `python://module:function` is looked for in `folder` first."""
    try:
        return _create(spec, folder)
    except UserError as mistake:
        if not spec.where:
            raise
        raise type(mistake)(f"{_place(spec)}{mistake}") from mistake


def _place(spec: ScorerSpec) -> str:
    return f"{spec.where}: " if spec.where else ""


def _way_out(spec: ScorerSpec, scorer: Scorer) -> str:
    """How two scorers of one name can be told apart, where they can."""
    from proctor.scorers.judging.panel import JudgeScorer

    settings: object = (
        scorer.kind if isinstance(scorer, JudgeScorer) else scorer
    )  # a judge's options are those of its kind
    if is_dataclass(settings) and not spec.name.startswith(CUSTOM):
        for field in fields(settings):
            if field.init and field.name in ("name", "label"):
                return f"give one of them another with the option '{field.name}'"
    return f"keep one of them ('{spec.name}' has no option that names it)"


def _create(spec: ScorerSpec, folder: Path | None) -> Scorer:
    if spec.name.startswith(CUSTOM):
        from proctor.scorers.custom import create

        return create(spec.name.removeprefix(CUSTOM), folder=folder, arguments=spec.options)
    try:
        plugins.load("scorers", spec.name)
    except plugins.PluginNotFoundError as error:
        raise NotFoundError(
            f"No scorer '{spec.name}'.{error.hint} There are: {', '.join(error.known)}; "
            "or your own function, as python://module:function."
        ) from error
    bad = [option for option in spec.options if not str(option).isidentifier()]
    if bad:
        raise BenchmarkError(f"The scorer '{spec.name}' has no option '{bad[0]}'.")
    scorer: Scorer = plugins.create("scorers", spec.name, **spec.options)
    return scorer
