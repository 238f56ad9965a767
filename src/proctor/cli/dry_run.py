"""`proctor run --dry-run` on the terminal: the resolved plan and its estimated cost."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from proctor.cli.figures import cost_text, count_text, plural
from proctor.cli.terminal import cell, console, fits, plain_table
from proctor.domain.documents.dry_run import DryRun, EstimatedCost, PilotRun, PlannedEvaluation
from proctor.domain.text import visible

LIMITS = {
    "cost_usd": "cost ${}",
    "assume_price": "assumed price {} dollars per million tokens (input/output)",
    "minutes": "{} minutes",
    "concurrency": "{} requests in flight per model",
    "retries": "{} retries per request",
    "timeout_seconds": "{} s per request",
    "requests_per_minute": "{} requests per minute and model",
    "tokens_per_minute": "{} tokens per minute and model",
}


def print_dry_run(planned: DryRun) -> None:
    """The resolved plan."""
    out = console()
    table = plain_table(("Model", "Benchmark", "Version", "Digest"), ("Samples", "Epochs", "Trials"))
    table.columns[3].no_wrap = True
    table.add_column("Options", overflow="fold")
    for item in planned.evaluations:
        table.add_row(
            cell(item.model_spec), cell(item.benchmark), cell(item.version), item.digest[:8],
            count_text(item.samples), count_text(item.epochs), count_text(item.trials),
            cell(_options_text(item)),
        )  # fmt: skip
    if fits(table, out):
        out.print(table)
    else:
        for item in planned.evaluations:
            _print_resolved(out, item)
    _print_costs(out, planned)
    limits = ", ".join(
        LIMITS[name].format(f"{value:g}" if isinstance(value, int | float) else value)
        for name, value in planned.limits.items()
        if value is not None
    )
    out.print(
        f"\n{plural(planned.trials, 'trial')}, {plural(planned.estimated_requests, 'request')} "
        "(not counting retries and cached answers); "
        f"seed {planned.seed}; limits: {limits}."
        f"{_stop_text(planned.until)}\n{_what_happened(planned.pilot)}"
        f"{_missing_keys_text(planned.missing_keys)}"
    )


def _missing_keys_text(variables: Sequence[str]) -> str:
    return f" The run itself needs a key: set {', '.join(variables)}." if variables else ""


def _stop_text(rule: str | None) -> str:
    return f" Stop rule {rule}: the run may end earlier, so these are upper limits." if rule else ""


def _options_text(item: PlannedEvaluation) -> str:
    return ", ".join(f"{key}={value}" for key, value in item.settings.items()) or "none sent"


def _print_resolved(out: Console, item: PlannedEvaluation) -> None:
    """One evaluation as a paragraph, for a narrow terminal: names can be copied as they are."""
    out.print(Text(visible(item.model_spec), "bold"), soft_wrap=True)
    trials = f"{plural(item.samples, 'sample')}, {plural(item.epochs, 'epoch')}, {plural(item.trials, 'trial')}"
    out.print(Text(visible(f"  on {item.benchmark} {item.version}: {trials}")))
    out.print(Text(f"  digest: {item.digest[:8]}"))
    out.print(Text(visible(f"  options: {_options_text(item)}")))


def _print_costs(out: Console, planned: DryRun) -> None:
    """What each evaluation will cost and why, and all of them together."""
    evaluations = planned.evaluations
    costs = [cost for item in evaluations for cost in (item.cost, *(judge.cost for judge in item.judges))]
    if all(cost.basis == "it costs nothing" for cost in costs):
        out.print("\nEstimated cost: $0.")
        return
    out.print("\nEstimated cost [95 % interval]:")
    for item in evaluations:
        out.print(
            Text(f"  {item.side} on {item.benchmark}: {_estimate_text(item.cost)} ({item.cost.basis})"),
            soft_wrap=True,
        )
        for part in item.judges:
            who = f"judge {part.judge} ({part.scorer})"
            out.print(Text(f"    {who}: {_estimate_text(part.cost)} ({part.cost.basis})"), soft_wrap=True)
    if len(costs) > 1:
        total = planned.cost
        reason = f" ({total.basis})" if total.value_usd is None else ""
        out.print(Text(f"  total: {_estimate_text(total)}{reason}"), soft_wrap=True)


def _estimate_text(cost: EstimatedCost) -> str:
    if cost.value_usd is None or cost.ci95_usd is None:
        return "unknown"
    low, high = cost.ci95_usd
    return f"{cost_text(cost.value_usd)} [{cost_text(low)}, {cost_text(high)}]"


def _what_happened(pilot: PilotRun | None) -> str:
    if pilot is None:
        return "No model was asked and nothing was written."
    asked = plural(pilot.trials, "trial")
    return f"The pilot run {pilot.run_id} asked {asked} for {cost_text(pilot.cost_usd)}; its answers are cached."
