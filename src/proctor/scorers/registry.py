"""From a scorer's name and options to the scorer."""

from __future__ import annotations

from pathlib import Path

from proctor import plugins
from proctor.domain.benchmark import ScorerSpec
from proctor.domain.errors import BenchmarkError, NotFoundError
from proctor.domain.scorer import Scorer

CUSTOM = "python://"


def create_scorer(spec: ScorerSpec, folder: Path | None = None) -> Scorer:
    """Make a scorer; the module of a `python://module:function` is looked for in `folder` first."""
    if spec.name.startswith(CUSTOM):
        from proctor.scorers.custom import create

        return create(spec.name.removeprefix(CUSTOM), folder=folder, arguments=spec.options)
    try:
        factory = plugins.load("scorers", spec.name)
    except plugins.PluginNotFoundError as error:
        hint = f" Did you mean '{error.suggestion}'?" if error.suggestion else ""
        raise NotFoundError(
            f"No scorer '{spec.name}'.{hint} There are: {', '.join(error.known)}; "
            "or your own function, as python://module:function."
        ) from error
    bad = [option for option in spec.options if not str(option).isidentifier()]
    if bad:
        raise BenchmarkError(f"The scorer '{spec.name}' has no option '{bad[0]}'.")
    scorer: Scorer = factory(**spec.options)
    return scorer
