"""Measure how well queries are read: each slot and whole plans against labels, on what is for development or held out.

python bench/planner/measure.py            what is for development of all sets, with every miss
python bench/planner/measure.py --write    both halves of all sets, into bench/PLANNER.md; figures alone
python bench/planner/measure.py --all-of fifth    all queries of a set at once, figures alone
python bench/planner/measure.py --planner local/smollm2-135m    whole plans with the help of a model, figures alone
                                --of third,fourth    these sets alone
                                --part 8    of each half an eighth, drawn by the hash of the query
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from world import world

from proctor.domain.errors import ModelError, UserError
from proctor.metrics.intervals import wilson_interval
from proctor.planner.answer import UnreadableAnswerError, merge_answer
from proctor.planner.drafting import draft
from proctor.planner.limits import samples_for_points
from proctor.planner.reader import not_understood, read_query
from proctor.planner.reading import Reading
from proctor.planner.slots.topics import subjects_meant
from proctor.runs.plans.ask_planner import _ask, _fills
from proctor.runs.resolve import PlanContext

HERE = Path(__file__).parent
SLOTS = ("models", "benchmarks", "where", "subjects", "languages", "limit", "cost_usd", "minutes", "epochs",
         "shots", "temperature", "seed", "judge", "until", "gates", "vary", "switches", "options", "gap", "refused",
         "then")  # fmt: skip
SWITCHES = ("cache", "batch", "offline", "variant", "reasoning_effort")
OTHERS = ("top_p", "max_tokens", "concurrency")
PLAIN = ("cost_usd", "minutes", "epochs", "shots", "temperature", "seed", "until")
CATALOGUE = world()
SETS = {
    "own": ("own", HERE),
    "second": ("a second author's", HERE / "independent"),
    "third": ("a third author's", HERE / "independent-2"),
    "fourth": ("a fourth author's", HERE / "independent-3"),
    "fifth": ("a fifth author's", HERE / "independent-4"),
    "sixth": ("a sixth author's", HERE / "independent-5"),
    "seventh": ("a seventh author's", HERE / "independent-6"),
}
OPENED = frozenset({"own", "second", "third"})
"""Sets whose held-out halves were opened on 2026-11-19: they are for development as a whole."""
UNLABELLED = {"sixth": frozenset({"then"})}
"""Slots that no label of a set says anything of: what is read there counts as neither right nor wrong."""


def queries(key: str) -> list[dict[str, Any]]:
    return [
        {**json.loads(text), "language": path.stem, "set": key}
        for path in sorted(SETS[key][1].glob("*.jsonl"))
        for text in path.read_text(encoding="utf-8").splitlines()
    ]


def is_held_out(query: str) -> bool:
    return hashlib.sha256(query.encode()).digest()[0] % 2 == 1


def expected(label: dict[str, Any]) -> dict[str, Any]:
    """The label in the form of what is read; a slot that the query says nothing of is None."""
    if label.get("refused"):
        return {"refused": True}
    limit: Any = label.get("limit")
    for name in ("percent", "effort", "see_points", "limit_in_all", "limit_per_language"):
        if name in label:
            limit = (name, label[name])
    return {
        "models": label.get("models"), "benchmarks": sorted(label["benchmarks"]) if "benchmarks" in label else None,
        "where": label.get("where"), "subjects": label.get("subjects"), "languages": label.get("languages"),
        "limit": limit, "judge": label.get("judge"), "gates": _gates(label.get("gates")), "vary": label.get("vary"),
        "switches": {name: label[name] for name in SWITCHES if name in label} or None,
        "options": {name: label[name] for name in OTHERS if name in label} or None,
        "gap": label.get("gap"), "refused": None, "then": label.get("then"),
        **{name: label.get(name) for name in PLAIN}, "epochs": _more_than_one(label.get("epochs")),
    }  # fmt: skip


def _gates(said: Any) -> Any:
    """`accuracy >= 0.8`, as a plan writes it, in the form of the other labels."""
    return {name: float(bar) for name, bar in (one.split(" >= ") for one in said)} if isinstance(said, list) else said


def read(query: str, help_with: Callable[[Reading], None] | None = None) -> dict[str, Any]:
    try:
        reading = read_query(query, CATALOGUE)
        if help_with is not None and not_understood(reading):
            help_with(reading)
        drafted = draft(reading, CATALOGUE)
    except UserError:
        return {"refused": True}
    options, choice = reading.options, drafted.choice
    entries = [entry if isinstance(entry, dict) else {"benchmark": entry} for entry in drafted.values["benchmarks"]]
    where: dict[str, dict[str, list[str]]] = {}
    for entry in entries:
        for key, words in entry.get("where", {}).items():
            part = where.setdefault(entry["benchmark"], {})
            part[key] = sorted({*part.get(key, ()), *words})
    said_benchmarks = bool(
        reading.benchmarks or reading.languages or reading.subjects or reading.groups or reading.categories
    )
    gap = choice.gaps[0] if choice.gaps else None
    return {
        "models": sorted(reading.models) or None,
        "benchmarks": sorted({entry["benchmark"] for entry in entries}) if said_benchmarks and gap is None else None,
        "where": (where or None) if gap is None else None,
        "subjects": subjects_meant(reading) or None, "languages": sorted(reading.languages) or None,
        "languages_left": _left(where) if reading.excluded_languages else None,
        "limit": limit(reading, entries), "judge": sorted(reading.judge) or None, "gates": reading.gates or None,
        "vary": reading.vary or None,
        "switches": {name: options[name] for name in SWITCHES if name in options} or None,
        "options": {name: options[name] for name in OTHERS if name in options} or None,
        "gap": {"language": gap.language, "subject": gap.subject} if gap else None, "refused": None,
        "then": reading.then,
        "cost_usd": float(reading.cost_usd) if reading.cost_usd is not None else None, "minutes": reading.minutes,
        "until": reading.until,
        "epochs": _more_than_one(options.get("epochs")),
        **{name: options.get(name) for name in ("shots", "temperature", "seed")},
    }  # fmt: skip


def _left(where: dict[str, dict[str, list[str]]]) -> list[str]:
    """The languages that are asked where some are left out; of the labels some name them, and some do not."""
    return sorted({name for part in where.values() for name in part.get("category", ())})


def _more_than_one(epochs: Any) -> Any:
    """Asked once is what every plan is that says nothing of it."""
    return None if epochs == 1 else epochs


def limit(reading: Any, entries: list[dict[str, Any]]) -> Any:
    if not reading.sizes:
        return None
    size = reading.sizes[0]
    if size.kind == "quick":
        return ("effort", "quick")
    if size.kind == "share":
        return ("percent", round(size.value * 100))
    if size.kind == "points":
        return ("see_points", size.value) if entries[0].get("limit") == samples_for_points(size.value) else "wrong"
    if size.is_total:
        return ("limit_in_all", size.value)
    limits = {entry["benchmark"]: entry.get("limit", entry.get("count")) for entry in entries}
    if len(limits) < len(entries):  # an entry for each language
        return ("limit_per_language", next(iter(limits.values())))
    return limits if len(set(limits.values())) > 1 else next(iter(limits.values()))


def same(slot: str, wanted: Any, got: Any) -> bool:
    if slot == "gap" and wanted and got:
        return bool(wanted["language"] == got["language"] and wanted["subject"] == got["subject"])
    if slot == "limit" and isinstance(wanted, tuple) and isinstance(got, tuple) and wanted[0] == "percent":
        return got[0] == "percent" and abs(wanted[1] - got[1]) <= 1
    if slot == "limit" and isinstance(wanted, int) and isinstance(got, tuple) and got[0] == "limit_per_language":
        return bool(wanted == got[1])  # labels of earlier authors write `20 each` as 20
    return bool(wanted == got)


def judged(row: dict[str, Any], got: dict[str, Any]) -> Iterator[tuple[str, bool, Any, Any]]:
    """Each slot that the label or the reading says something of: whether they agree, and what each says."""
    wanted = expected(row["label"])
    for slot in SLOTS:
        one, other = wanted.get(slot), got.get(slot)
        if slot == "languages" and other is None and one is not None:
            other = got.get("languages_left")
        if (one is None and other is None) or slot in UNLABELLED.get(row["set"], ()):
            continue
        if one is None and slot == "subjects":
            continue  # a subject that follows from a benchmark's name need not be labelled
        yield slot, same(slot, one, other), one, other


def counted(rows: list[dict[str, Any]]) -> tuple[dict[str, list[int]], list[str], list[float]]:
    """Right and all, by slot: a slot counts where the label or the reading says something of it."""
    scores: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    misses, seconds = [], []
    for row in rows:
        begun = time.process_time()
        got = read(row["query"])
        seconds.append(time.process_time() - begun)
        wrong = []
        for slot, is_right, one, other in judged(row, got):
            scores[slot][0] += is_right
            scores[slot][1] += 1
            if not is_right:
                wrong.append(f"{slot}: wanted {one}, read {other}")
        for name in ("whole plans", f"whole plans in {row['language']}"):
            scores[name][0] += not wrong
            scores[name][1] += 1
        if wrong:
            misses.append(f"{row['language']}: {row['query']}\n      " + "\n      ".join(wrong))
    return scores, misses, seconds


def line(name: str, halves: list[dict[str, list[int]]]) -> str:
    cells = []
    for scores in halves:
        right, n = scores.get(name, [0, 0])
        low, high = wilson_interval(right, n) if n else (0.0, 1.0)
        cells.append(f"{right / n:.3f} [{low:.3f}, {high:.3f}] n={n}" if n else "not measured")
    return f"| {name} | {' | '.join(cells)} |"


def halves(key: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The queries of a set: for development, and held out."""
    rows: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for row in queries(key):
        rows[key not in OPENED and is_held_out(row["query"])].append(row)
    return rows


def table(first: dict[str, list[int]], *others: dict[str, list[int]]) -> str:
    every = (first, *others)
    rest = sorted({name for scores in every for name in scores if name not in SLOTS})
    return "\n".join(line(name, list(every)) for name in (*SLOTS, *rest))


def with_planner(planner: str) -> None:
    """Print how many whole plans are right with a model's help, and how often its answer could be used; no queries."""
    context = PlanContext(Path.cwd(), os.environ)
    only = sys.argv[sys.argv.index("--of") + 1].split(",") if "--of" in sys.argv else list(SETS)
    part = int(sys.argv[sys.argv.index("--part") + 1]) if "--part" in sys.argv else 1
    for key in only:
        for half, every in zip(("development", "held out"), halves(key), strict=True):
            rows = [row for row in every if hashlib.sha256(row["query"].encode()).digest()[1] % part == 0]
            if not rows:
                continue
            asked = used = right = plain = 0
            for row in rows:
                tried: list[bool] = []

                def help_with(reading: Reading, tried: list[bool] = tried) -> None:
                    try:
                        response, _ = _ask(reading, CATALOGUE, planner, context, 120.0)
                        merge_answer(reading, CATALOGUE, _fills(response))
                        tried.append(True)
                    except (ModelError, UnreadableAnswerError, TimeoutError):
                        tried.append(False)

                right += all(is_right for _, is_right, _, _ in judged(row, read(row["query"], help_with)))
                plain += all(is_right for _, is_right, _, _ in judged(row, read(row["query"])))
                asked, used = asked + len(tried), used + sum(tried)
            low, high = wilson_interval(right, len(rows))
            print(f"{SETS[key][0]}, {half}: whole plans {right / len(rows):.3f} [{low:.3f}, {high:.3f}] n={len(rows)}")
            print(f"  {plain} by rules, {right} with the model; asked {asked} times, {used} answers used", flush=True)


def main() -> None:
    if "--all-of" in sys.argv:
        scores, _, _ = counted(queries(sys.argv[sys.argv.index("--all-of") + 1]))
        print(table(scores))
        return
    if "--planner" in sys.argv:
        with_planner(sys.argv[sys.argv.index("--planner") + 1])
        return
    sets = {key: halves(key) for key in SETS}
    dev = {key: counted(rows) for key, (rows, _) in sets.items()}
    if "--write" not in sys.argv:
        for key, (title, _) in SETS.items():
            scores, misses, _ = dev[key]
            print(f"== {title} queries, for development")
            print("\n".join(misses))
            print("\n".join(line(name, [scores]) for name in scores))
        seconds = sorted(dev["own"][2])
        print(f"median {seconds[len(seconds) // 2] * 1000:.1f} ms, slowest {max(seconds) * 1000:.1f} ms")
        return
    held = {key: counted(rows) for key, (_, rows) in sets.items()}
    sealed = [key for key in SETS if key not in OPENED]
    every = sorted(second for found in (dev, held) for _, _, seconds in found.values() for second in seconds)
    template = (HERE / "PLANNER.template.md").read_text(encoding="utf-8")
    counts = {key: (len(rows), len(others)) for key, (rows, others) in sets.items()}
    text = template.format(
        **{f"{key}_table": table(dev[key][0], *([] if key in OPENED else [held[key][0]])) for key in SETS},
        **{f"{key}_dev": one for key, (one, _) in counts.items()},
        **{f"{key}_held": other for key, (_, other) in counts.items()},
        **{f"{key}_all": sum(pair) for key, pair in counts.items()},
        sealed=table(pooled([held[key][0] for key in sealed]), *(held[key][0] for key in sealed)),
        sealed_held=sum(counts[key][1] for key in sealed),
        **{f"{name}_missed": _missed([held[key][0] for key in sealed], name) for name in ("limit", "languages")},
        median=f"{every[len(every) // 2] * 1000:.1f}", slowest=f"{every[-1] * 1000:.1f}",
        first=f"{max(first_readings()):.0f}",
    )  # fmt: skip
    (HERE.parent / "PLANNER.md").write_text(text, encoding="utf-8")


def _missed(parts: list[dict[str, list[int]]], name: str) -> str:
    right, n = pooled(parts)[name]
    return f"{right} of {n}"


def pooled(parts: list[dict[str, list[int]]]) -> dict[str, list[int]]:
    """Right and all, by slot, over several sets."""
    names = dict.fromkeys(name for scores in parts for name in scores)
    return {name: [sum(scores.get(name, [0, 0])[at] for scores in parts) for at in (0, 1)] for name in names}


FIRST = """
import sys, time
sys.path.insert(0, {folder!r})
from world import world
from proctor.planner.reader import read_query
catalogue = world()
begun = time.process_time()
read_query({query!r}, catalogue)
print((time.process_time() - begun) * 1000)
"""


def first_readings() -> list[float]:
    """Milliseconds of processor time of the first reading of a process, once in each language."""
    first = {row["language"]: row["query"] for row in reversed(halves("own")[0])}
    programs = [FIRST.format(folder=str(HERE), query=query) for query in first.values()]
    run = partial(subprocess.run, capture_output=True, text=True, check=True)
    return [float(run([sys.executable, "-c", program]).stdout) for program in programs]


if __name__ == "__main__":
    main()
