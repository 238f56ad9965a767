"""What to type next."""

from __future__ import annotations

from proctor.cli.echo import echo
from proctor.domain.documents.run import RunSummary
from proctor.domain.run import COST_LIMIT


def resume_command(run: RunSummary) -> str:
    """Goes on with a run; one that may spend no more needs another limit first, or it would stop again at once."""
    is_out_of_money = (run.error or "").startswith(COST_LIMIT)
    return f"proctor resume {run.run_id}{' --max-cost USD' if is_out_of_money else ''}"


def say_unused_judges(words: str | None) -> None:
    """A judge that is never asked was named by mistake, or the benchmark is another than was thought."""
    if words is not None:
        echo(f"Note: {words}", err=True)
