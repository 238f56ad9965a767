"""Numbers as people read them: with unit, n and interval; what was not measured is a dash."""

from __future__ import annotations

from typing import Any

NOT_MEASURED = "–"


def estimate_text(estimate: dict[str, Any] | None) -> str:
    if estimate is None or estimate["value"] is None:
        return NOT_MEASURED
    text = f"{estimate['value']:.3f}"
    if estimate["ci95"] is not None:
        low, high = estimate["ci95"]
        text += f" [{low:.3f}, {high:.3f}]"
    return f"{text} n={estimate['n']:,}"


def seconds_text(seconds: float | None) -> str:
    if seconds is None:
        return NOT_MEASURED
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = int(seconds // 60)
    return f"{minutes // 60:,} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {int(seconds % 60)} s"


def count_text(count: int | None) -> str:
    return NOT_MEASURED if count is None else f"{count:,}"


def plural(count: int, noun: str) -> str:
    """`1 trial`, `2 trials`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def cost_text(usd: Any) -> str:
    return "unknown" if usd is None else f"${float(usd):.4f}"


def share_text(count: int, total: int) -> str:
    """A count with its share: `3 (1.5 %)`."""
    return "0" if not count or not total else f"{count:,} ({100 * count / total:.1f} %)"


def until_text(outcome: dict[str, Any]) -> str:
    """What a stop rule came to: `a against b: -0.210 [-0.302, -0.118] n=312 (decided)`."""
    low, high = outcome["interval"]
    names = " against ".join(reversed(outcome["models"]))
    value = NOT_MEASURED if outcome["value"] is None else f"{outcome['value']:+.3f}"
    state = "reached" if outcome["met"] else "not reached"
    figures = f"{value} [{low:+.3f}, {high:+.3f}] n={outcome['n']:,}"
    return f"until {outcome['rule']}, {names}: {figures}, {state}. This interval holds however often one looks."
