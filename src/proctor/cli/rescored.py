"""Old and new scores side by side."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.text import Text

from proctor.cli.figures import cost_text, count_text, estimate_text, plural, share_text
from proctor.cli.terminal import cell, console, plain_table
from proctor.domain.documents.judging import JudgeAgreement
from proctor.domain.documents.rescored import Rescored, RescoredEvaluation, ScorerFigures
from proctor.metrics.labels import metric_titles
from proctor.metrics.rounding import decimal_text
from proctor.reports.judge_notes import undecided_text


def print_rescored(document: Rescored) -> None:
    """What `proctor rescore` shows."""
    out = console()
    out.print(f"Run [bold]{document.run_id}[/]: old and new scores")
    for item in document.evaluations:
        out.print(Text(f"\n{item.side} on {item.benchmark}"))
        _print_table(out, item)
        _print_changes(out, item)
        _print_judges(out, item)
        if item.already_scored:
            out.print(Text(_already_text(item)))
    out.print(f"\n{_what_counts(document)}")


def _print_table(out: Console, item: RescoredEvaluation) -> None:
    sides = [("old", *pair) for pair in item.before.items()] + [("new", *pair) for pair in item.after.items()]
    names = list(dict.fromkeys(name for _, _, figures in sides for name in figures.metrics))
    titles = metric_titles([figures for _, _, figures in sides])
    headers = (*(f"{titles[name]} [95 % interval]" for name in names), "invalid", "not measured")
    table = plain_table(("", "Scorer"), headers)
    for side, scorer, figures in sides:
        total = figures.scored + figures.invalid + figures.unscored
        table.add_row(
            side,
            cell(f"{scorer}@{figures.version}"),
            *(cell(estimate_text(figures.metrics.get(name))) for name in names),
            share_text(figures.invalid, total),
            share_text(figures.unscored, total),
        )
    out.print(table)


def _print_changes(out: Console, item: RescoredEvaluation) -> None:
    for change in item.changes:
        out.print(
            Text(
                f"{count_text(change.changed)} of {plural(change.compared, 'score')} changed: "
                f"{count_text(change.higher)} higher, {count_text(change.lower)} lower "
                f"({change.after.partition('@')[0]} against {change.before.partition('@')[0]})."
            )
        )


def _print_judges(out: Console, item: RescoredEvaluation) -> None:
    for scorer, figures in item.after.items():
        for judge, work in (figures.judges or {}).items():
            tokens = work.usage
            out.print(
                Text(
                    f"{scorer} by {judge}: {plural(work.verdicts, 'verdict')}, {count_text(work.unreadable)} "
                    f"unreadable, {plural(work.requests, 'request')}, {count_text(work.cached)} cached, tokens "
                    f"{count_text(tokens.input_tokens)} / {count_text(tokens.output_tokens)}, "
                    f"cost {cost_text(work.cost_usd, work.cost_basis)}."
                )
            )
            if work.undecided:
                out.print(Text(f"{scorer} by {judge}: {undecided_text(work)}."))
        if figures.agreement:
            out.print(Text(f"{scorer}: {agreement_text(figures.agreement)}"))


def agreement_text(agreement: JudgeAgreement) -> str:
    """How far a panel agrees, in one sentence."""

    def figure(value: float | None) -> str:
        return "undefined" if value is None else decimal_text(value)

    is_pair = len(agreement.judges) == 2
    title, kappa = ("Cohen's kappa", agreement.cohen_kappa) if is_pair else ("Fleiss' kappa", agreement.fleiss_kappa)
    return (
        f"{len(agreement.judges)} judges, {plural(agreement.n, 'response')}: unanimous {figure(agreement.unanimous)}, "
        f"{title} {figure(kappa)}, Krippendorff's alpha {figure(agreement.krippendorff_alpha)} ({agreement.level})."
    )


def _already_text(item: RescoredEvaluation) -> str:
    """What was not done: scores are kept by scorer and version, so one whose own code changed is not seen as new."""
    text = f"{plural(item.already_scored, 'response')} had these scores already: not scored again."
    if any(figures.judges for figures in item.after.values()):
        text += " To ask the judge anew, give its scores another name: --scorer 'SCORER:name=NAME'."
    return text


def _what_counts(document: Rescored) -> str:
    run_id = document.run_id
    same = all(_versions(item.before) == _versions(item.after) for item in document.evaluations)
    if document.is_complete and same:
        return "These scores were in force before."
    if document.is_in_force:
        return f"The new scores are now in force; the old ones are kept (proctor rescore {run_id} --use …)."
    if document.is_complete:
        return f"The old scores remain in force; the new ones are kept (proctor rescore {run_id} --use …)."
    return (
        "The new scores are incomplete, so the old ones remain in force "
        f"(proctor rescore {run_id} --use … puts the new ones in force anyway)."
    )


def _versions(scores: Mapping[str, ScorerFigures]) -> dict[str, str]:
    return {scorer: figures.version for scorer, figures in scores.items()}
