"""Which evaluations are compared with which, and why others are not."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct

from proctor.domain.errors import NotFoundError, UserError, did_you_mean
from proctor.domain.side import PARAMETERS, SHOTS, chosen_samples
from proctor.runs.comparing.compared_metric import ComparedMetric, find_metric
from proctor.stores.comparing import EvaluationRow


class PairSelection(Struct, frozen=True):
    """What a person asked to be compared."""

    benchmarks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    scorer: str | None = None
    metric: str | None = None
    """As `show` names it; the first of the scorer's if left out."""
    allow_different: bool = False
    """Pair by sample id even where the samples' content, the prompts or the scorer's version differ."""
    is_gate: bool = False
    """Nobody watches: two parts of one benchmark are refused instead of comparing what they share, and what the
    first run has beyond the second is not missed."""
    is_failing_wrong: bool = False
    """Trials of B without a score count as wrong, instead of being left out."""


class Pair(Struct, frozen=True):
    """Two evaluations to compare on one metric; `warnings` say what else differs."""

    a: EvaluationRow
    b: EvaluationRow
    metric: ComparedMetric
    warnings: tuple[str, ...] = ()
    is_overlap: bool = False
    """Only samples of the same content are compared: the two were not asked the same set."""

    @property
    def scorer(self) -> str:
        return self.metric.scorer

    @property
    def names(self) -> tuple[str, str]:
        """What the two are called: the sides, with their runs where that is the difference."""
        if self.a.side != self.b.side:
            return self.a.side, self.b.side
        return f"{self.a.side} ({self.a.run_id})", f"{self.b.side} ({self.b.run_id})"


class NotComparableError(UserError):
    """Nothing of what was asked for may be compared; says why."""


class _Unpaired(Exception):  # noqa: N818 - not an error: a reason that is told beside the result
    """Two evaluations that belong together may not be compared."""


def choose_pairs(runs: Sequence[Sequence[EvaluationRow]], choice: PairSelection) -> tuple[list[Pair], list[str]]:
    """The pairs to compare, and what is left out with the reason; raises UserError when nothing is left.

    Within one run the sides are compared that differ in the model alone or in the settings alone; of several runs the
    first is compared with each other one.
    """
    wanted = [_wanted(rows, choice) for rows in runs]
    pairs: list[Pair] = []
    reasons: list[str] = []
    candidates = _within(wanted[0], choice, reasons) if len(wanted) == 1 else _between(wanted, choice, reasons)
    for a, b in candidates:
        try:
            pairs.append(_pair(a, b, choice))
        except _Unpaired as reason:
            reasons.append(str(reason))
    if not pairs:
        raise NotComparableError(" ".join(reasons)) if reasons else UserError(_nothing(wanted))
    return pairs, reasons


def _wanted(rows: Sequence[EvaluationRow], choice: PairSelection) -> list[EvaluationRow]:
    known = list(dict.fromkeys(row.benchmark for row in rows))
    for name in choice.benchmarks:
        if name not in known:
            where = f"Run {rows[0].run_id}" if rows else "The run"
            raise NotFoundError(
                f"{where} has no benchmark {name!r}; it has {_listed(known)}.{did_you_mean(name, known)}"
            )
    return [row for row in rows if not choice.benchmarks or row.benchmark in choice.benchmarks]


def _within(
    rows: Sequence[EvaluationRow], choice: PairSelection, reasons: list[str]
) -> list[tuple[EvaluationRow, EvaluationRow]]:
    names = list(choice.models)
    for name in names:
        _known_side(name, rows)
    groups: dict[str, list[EvaluationRow]] = {}
    for row in rows:
        if not names or row.model in names or row.side in names:
            groups.setdefault(row.benchmark, []).append(row)
    if names:
        for group in groups.values():
            group.sort(key=lambda row: names.index(row.side if row.side in names else row.model))
    every = [pair for group in groups.values() for pair in combinations(group, 2) if _are_alike(*pair)]
    known = {_parts(row) for group in groups.values() for row in group}
    found = [pair for pair in every if _has_one_cause(*pair, known)]
    if len(names) == 1 and not found:
        raise UserError("One run is compared side by side: give --model twice or more, or not at all.")
    if len(found) < len(every):
        reasons.append(f"{len(every) - len(found):,} pairs that differ in more than one of model, options and prompt.")
    return found


def _are_alike(a: EvaluationRow, b: EvaluationRow) -> bool:
    """Whether the two were meant to be asked the same samples, in the same way or in ways that the plan varies."""
    return a.digest == b.digest or (_is_varied(a, b) and _chosen(a) == _chosen(b))


def _chosen(row: EvaluationRow) -> Mapping[str, Any]:
    return chosen_samples(row.benchmark_spec)


def _is_varied(a: EvaluationRow, b: EvaluationRow) -> bool:
    """Whether one plan put the samples in two ways on purpose."""
    return a.run_id == b.run_id and a.prompt_settings != b.prompt_settings


def _has_one_cause(a: EvaluationRow, b: EvaluationRow, known: Container[tuple[str, ...]]) -> bool:
    """Whether the two differ in one thing, or in several that no other side tells apart.

    Prompts are compared within a model only: two models with two prompts say nothing of either.
    """
    if a.digest != b.digest and a.model != b.model:
        return False
    one, other = _parts(a), _parts(b)
    places = [place for place, (mine, yours) in enumerate(zip(one, other, strict=True)) if mine != yours]
    between = ((*one[:place], other[place], *one[place + 1 :]) for place in places)
    return len(places) <= 1 or not any(parts in known for parts in between)


def _parts(row: EvaluationRow) -> tuple[str, ...]:
    """What a side is made of: the benchmark, the model, its options, each setting of the prompts."""
    base = [row.model_spec.get("provider"), row.model_spec.get("name"), row.settings]
    settings = [row.prompt_settings.get(name) for name in (*PARAMETERS, SHOTS)]
    parts = (row.benchmark, _chosen(row), base, row.options, *settings)
    return tuple(json.dumps(part, sort_keys=True) for part in parts)


def _between(
    runs: Sequence[Sequence[EvaluationRow]], choice: PairSelection, reasons: list[str]
) -> list[tuple[EvaluationRow, EvaluationRow]]:
    if len(choice.models) > 2:
        raise UserError("Two runs are compared on one model, or on two: give --model once or twice.")
    first = runs[0]
    found = []
    for other in runs[1:]:
        for a in first:
            if choice.models and a.model != choice.models[0]:
                continue
            if choice.is_gate and len(_models(first)) > 1 and a.model not in _models(other):
                continue
            b = _partner(a, first, other, choice)
            if isinstance(b, str):
                reasons.append(b)
            else:
                found.append((a, b))
    if choice.models:
        _known_model(choice.models[0], first)
    return found


def _partner(
    a: EvaluationRow, first: Sequence[EvaluationRow], other: Sequence[EvaluationRow], choice: PairSelection
) -> EvaluationRow | str:
    """The evaluation that belongs beside `a`, or why there is none."""
    run_id = other[0].run_id if other else "the other run"
    model = choice.models[-1] if choice.models else a.model
    if choice.models:
        _known_model(model, other)
    elif _models(first) != _models(other) and len(_models(first)) == len(_models(other)) == 1:
        model = next(iter(_models(other)))
    elif model not in _models(other):
        return f"{model} is not in run {run_id}, which has {_listed(_models(other))}; name two models with --model."
    beside = [row for row in other if row.model == model and row.benchmark == a.benchmark]
    if not beside:
        return f"{model} was not evaluated on {a.benchmark} in run {run_id}."
    same = [row for row in beside if row.digest == a.digest]
    if not same and len(beside) > 1:
        return f"Run {run_id} has several versions of {a.benchmark}, and none has the content of run {a.run_id}."
    return (same or beside)[0]


def _pair(a: EvaluationRow, b: EvaluationRow, choice: PairSelection) -> Pair:
    is_varied = _is_varied(a, b)
    try:
        metric = _metric(a, b, choice)
    except NotFoundError as reason:
        if is_varied and choice.scorer is None and choice.metric is None:
            raise _Unpaired(f"{a.side} and {b.side}: {reason}") from None  # a variant may be scored in another way
        raise
    scorer = metric.scorer
    warnings = []
    content = _difference_beside_prompts(a, b) if is_varied else difference_of_content(a, b)
    is_overlap = not choice.is_gate and not is_varied and _are_parts_of_one(a, b)
    if content and not is_overlap:
        warnings.append(content)
    if a.scorers[scorer] != b.scorers[scorer]:
        warnings.append(
            f"{scorer} is version {a.scorers[scorer]} in run {a.run_id} and {b.scorers[scorer]} in run {b.run_id}."
        )
    other = find_metric(b, choice.metric, scorer).written
    if other != metric.written:
        warnings.append(f"The metric is {metric.written} in run {a.run_id} and {other} in run {b.run_id}.")
    if warnings and not choice.allow_different:
        raise _Unpaired(
            f"{a.side} on {a.benchmark} in run {a.run_id} and {b.side} in run {b.run_id} are not comparable: "
            f"{' '.join(warnings)}"
        )
    if is_varied and _samples_digest(a) != _samples_digest(b):
        warnings.append("Samples that are worked examples of one side are left out.")
    if is_overlap:
        warnings.append(
            f"The two were not asked the same samples ({a.samples:,} by A, {b.samples:,} by B): only those whose "
            "content is the same are compared."
        )
    if a.epochs != b.epochs:
        warnings.append(f"Each sample was asked {a.epochs} times by A and {b.epochs} times by B; epochs are averaged.")
    if a.options != b.options:
        warnings.append(f"The sampling options differ: {_shown(a.options)} against {_shown(b.options)}.")
    if a.model == b.model and a.settings != b.settings:
        warnings.append(f"The settings differ: {_shown(a.settings)} against {_shown(b.settings)}.")
    return Pair(a, b, metric, tuple(warnings), is_overlap and not choice.allow_different)


def _metric(a: EvaluationRow, b: EvaluationRow, choice: PairSelection) -> ComparedMetric:
    """What the two are compared on: the metric that was asked for, or the first of the scorer."""
    if choice.metric is not None and choice.scorer is not None:
        raise UserError(f"The metric {choice.metric!r} says whose marks it reads: leave out --scorer.")
    scorer = choice.scorer or (next(iter(a.scorers)) if choice.metric is None else None)
    metric = find_metric(a, choice.metric, scorer if scorer in a.scorers else None)
    for row in (a, b):
        wanted = scorer or metric.scorer
        if wanted not in row.scorers:
            raise NotFoundError(
                f"{row.benchmark} in run {row.run_id} was not scored by {wanted!r}, but by {_listed(row.scorers)}."
            )
    if not metric.is_paired:
        raise UserError(f"{metric.label} is no mean over samples or classes: it cannot be compared sample by sample.")
    return metric


def _are_parts_of_one(a: EvaluationRow, b: EvaluationRow) -> bool:
    """Different samples, but of the same version of a benchmark, put in the same way."""
    samples_a, _, prompts_a = a.digest.partition("/")
    samples_b, _, prompts_b = b.digest.partition("/")
    return samples_a != samples_b and prompts_a == prompts_b and a.version == b.version and a.shots == b.shots


def _difference_beside_prompts(a: EvaluationRow, b: EvaluationRow) -> str | None:
    """What differs although only the prompts were varied; None when nothing does.

    Worked examples that come from the samples themselves are not asked, so other shots leave out others: the rest are
    the same samples, unless another variant has other data.
    """
    if a.version != b.version:
        return f"The versions are {a.version} and {b.version}."
    is_of_shots = a.shots != b.shots and a.prompt_settings.get("variant") == b.prompt_settings.get("variant")
    if _samples_digest(a) != _samples_digest(b) and not is_of_shots:
        return f"The samples differ ({a.samples:,} and {b.samples:,})."
    return None


def _samples_digest(row: EvaluationRow) -> str:
    return row.digest.partition("/")[0]


def difference_of_content(a: EvaluationRow, b: EvaluationRow) -> str | None:
    """What differs in the benchmark as it was really used; None when nothing does."""
    if a.digest == b.digest:
        return None
    samples_a, _, prompts_a = a.digest.partition("/")
    samples_b, _, prompts_b = b.digest.partition("/")
    parts = []
    if samples_a != samples_b:
        parts.append(f"the samples differ ({a.samples:,} and {b.samples:,})")
    if prompts_a != prompts_b:
        parts.append("the prompts differ")
    if a.version != b.version:
        parts.append(f"the versions are {a.version} and {b.version}")
    if a.shots != b.shots:
        parts.append(f"the shots are {_shots(a)} and {_shots(b)}")
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _shots(row: EvaluationRow) -> str:
    return "the default" if row.shots is None else str(row.shots)


def _shown(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items()) or "none"


def _models(rows: Sequence[EvaluationRow]) -> dict[str, None]:
    return dict.fromkeys(row.model for row in rows)


def _known_model(name: str, rows: Sequence[EvaluationRow]) -> None:
    known = _models(rows)
    if name not in known:
        run = rows[0].run_id if rows else ""
        raise NotFoundError(f"Run {run} has no model {name!r}; it has {_listed(known)}.{did_you_mean(name, known)}")


def _known_side(name: str, rows: Sequence[EvaluationRow]) -> None:
    if name not in {row.side for row in rows}:
        _known_model(name, rows)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _nothing(runs: Sequence[Sequence[EvaluationRow]]) -> str:
    if len(runs) == 1:
        run = runs[0][0].run_id if runs[0] else ""
        return f"Run {run} has only one model per benchmark: name a second run to compare it with."
    return "These runs have no model and benchmark in common."
