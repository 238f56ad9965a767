"""A benchmark drafted from a document: a model writes, rules and a second model check, a person reviews.

What was paid for is in the file of drafts as soon as it is there; the benchmark's own data has accepted samples only.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Literal

import yaml
from msgspec import Struct, convert
from msgspec.structs import replace

from proctor.benchmarks.document_text import passages_of, read_document
from proctor.domain.documents.drafted_sample import BenchmarkDraft, DraftedSample
from proctor.domain.errors import BenchmarkError, ModelError, UserError
from proctor.domain.message import Message, Prompt
from proctor.domain.model import Model
from proctor.domain.price import Price
from proctor.models.key_hosts import with_key_hosts
from proctor.models.prices import find_price
from proctor.models.registry import create_model, named_hosts
from proctor.offline import confined
from proctor.planning.plan_file import model_spec
from proctor.runs.benchmarks.draft_kinds import (
    KINDS,
    DraftKind,
    KindName,
    WrittenSample,
    ask_with,
    is_answered,
    plain,
    refused_by_rules,
    written_in,
)
from proctor.runs.resolve import PlanContext

AT_ONCE = 4
TIMEOUT_SECONDS = 120.0
SAME = 0.8
"""Questions that share so much of their words are one question."""


TWICE = "the same question is there already"


class DraftRequest(Struct, frozen=True):
    document: Path
    output: Path
    """The benchmark file; data and drafts are written beside it."""
    count: int
    writer: str
    checker: str
    pilots: tuple[str, ...] = ()
    kind: KindName = "qa"

    @property
    def data(self) -> Path:
        return self.output.with_suffix(".jsonl")

    @property
    def drafts(self) -> Path:
        return drafts_beside(self.output)


def drafts_beside(benchmark: Path) -> Path:
    """The file of drafts that belongs to a benchmark file."""
    return benchmark.with_suffix(".drafts.jsonl")


class DraftingModel:
    """A model that is asked one thing at a time, and what it has cost."""

    def __init__(self, model: Model, price: Price | None, options: dict[str, object]) -> None:
        self.model, self.price, self.options = model, price, options
        self.requests = 0
        self.cost: Decimal | None = Decimal(0)

    async def say(self, system: str, text: str) -> str:
        messages = ([Message("system", system)] if system else []) + [Message("user", text)]
        self.requests += 1
        async with asyncio.timeout(TIMEOUT_SECONDS):
            response = await self.model.respond(Prompt(tuple(messages)), self.options, timeout_seconds=TIMEOUT_SECONDS)
        cost = response.cost_usd
        if cost is None and self.price is not None:
            cost = self.price.cost(response.usage)
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        return response.text

    async def close(self) -> None:
        await self.model.close()


def draft_benchmark(request: DraftRequest, context: PlanContext) -> BenchmarkDraft:
    """Draft, check and write; run again, it goes on with the passages that were not used yet."""
    refuse_same_model(request.writer, request.checker)
    passages = passages_of(read_document(request.document))
    if not passages:
        raise BenchmarkError(f"{request.document.name} has no passage of 80 characters or more.")
    known = read_drafts(request.drafts) if request.drafts.is_file() else []
    other = next((one.kind for one in known if one.kind != request.kind), None)
    if other is not None:
        raise UserError(f"{request.drafts} has drafts of the kind {other!r}: name another file with -o.")
    _refuse_output(request)
    with confined(context.is_offline):
        return asyncio.run(_draft(request, context, passages, known))


def refuse_same_model(writer: str, checker: str) -> None:
    """Two models are one, however each is sampled and called."""
    first, second = model_spec(writer), model_spec(checker)
    if (first.provider, first.name, first.settings) == (second.provider, second.name, second.settings):
        raise UserError("The model that checks must be another one than the writer: name it with --checker.")


async def _draft(
    request: DraftRequest, context: PlanContext, passages: Sequence[str], known: list[DraftedSample]
) -> BenchmarkDraft:
    names = (request.writer, request.checker, *request.pilots)
    asked = [create_asked(name, context) for name in names]
    notes: list[str] = []
    try:
        _begin(request.drafts)
        used = {one.passage_number for one in known}
        left = [number for number in range(len(passages)) if number not in used]
        while left and sum(one.verdict == "accepted" for one in known) < request.count:
            missing = request.count - sum(one.verdict == "accepted" for one in known)
            batch, left = left[: min(AT_ONCE, missing)], left[min(AT_ONCE, missing) :]
            kind = KINDS[request.kind]
            questions = [one.question for one in known if one.verdict == "accepted"]
            made = await draft_batch(kind, asked, {number: passages[number] for number in batch}, questions)
            notes += made.notes
            known += made.samples
            for sample in made.samples:
                _append(request.drafts, sample)
    finally:
        for one in asked:
            await one.close()
    write_benchmark(request.output, known, request.document.name, KINDS[request.kind])
    return BenchmarkDraft(
        benchmark=str(request.output),
        drafts=str(request.drafts),
        asked_for=request.count,
        passages=len(passages),
        accepted=sum(one.verdict == "accepted" for one in known),
        refused=dict(Counter(one.reason for one in known if one.verdict == "refused")),
        requests=sum(one.requests for one in asked),
        cost_usd=cost_of(asked),
        notes=notes,
        difficulties=_difficulties(known),
    )


def _difficulties(known: Iterable[DraftedSample]) -> dict[str, int]:
    """How many accepted samples the pilots found how hard; empty without a pilot."""
    measured = sorted(one.difficulty for one in known if one.verdict == "accepted" and one.difficulty is not None)
    return dict(Counter(f"{value:.2f}" for value in measured))


def _refuse_output(request: DraftRequest) -> None:
    """Before anything is paid for: what others wrote is not written over, and there is a folder to write to."""
    if not request.output.parent.is_dir():
        raise UserError(f"There is no folder {request.output.parent}: make it, or name another file with -o.")
    if request.drafts.exists():
        return
    for path in (request.output, request.data):
        if path.exists():
            raise UserError(f"{path} is there and was not drafted here: name another file with -o.")


def _begin(drafts: Path) -> None:
    """From here on the files beside it are ours, whether or not a draft is ever made."""
    try:
        drafts.touch()
    except OSError as error:
        raise UserError(f"{drafts} cannot be written: {error.strerror}.") from None


def create_asked(name: str, context: PlanContext, *, has_named_hosts: bool = True) -> DraftingModel:
    """`has_named_hosts`: whoever names the model says with its address where its key may go."""
    spec = model_spec(name)
    environment = with_key_hosts(context.environment, named_hosts([spec])) if has_named_hosts else context.environment
    model = create_model(spec, environment=environment, folder=context.folder, is_offline=context.is_offline)
    price = find_price(model.identity, context.prices, None, context.lists)
    return DraftingModel(model, price, {"max_tokens": 400, **spec.sampling.given()})


def cost_of(asked: Iterable[DraftingModel]) -> float | None:
    """What all of them have cost; None where the price of one is not known."""
    costs = [one.cost for one in asked]
    return None if None in costs else float(sum(cost for cost in costs if cost is not None))


class DraftedBatch(Struct, frozen=True):
    samples: tuple[DraftedSample, ...]
    notes: tuple[str, ...]
    """A sentence for each passage that came to nothing; it is free again."""


async def draft_batch(
    kind: DraftKind, asked: Sequence[DraftingModel], passages: Mapping[int, str], questions: Sequence[str]
) -> DraftedBatch:
    """A sample of each passage, side by side, with its verdict; `questions` are there already."""
    made = await asyncio.gather(
        *(_one(kind, asked, passage, number, questions) for number, passage in passages.items())
    )
    known, samples = list(questions), []
    for sample in made:
        if isinstance(sample, DraftedSample):
            # Samples that were written side by side may still be one question.
            if sample.verdict == "accepted" and _is_known(sample.question, known):
                sample = replace(sample, verdict="refused", reason=TWICE)  # noqa: PLW2901
            if sample.verdict == "accepted":
                known.append(sample.question)
            samples.append(sample)
    return DraftedBatch(tuple(samples), tuple(one for one in made if isinstance(one, str)))


async def _one(
    kind: DraftKind, asked: Sequence[DraftingModel], passage: str, number: int, questions: Sequence[str]
) -> DraftedSample | str:
    """A sample of one passage with its verdict; words for a fault, after which the passage is free again."""
    writer, checker, *pilots = asked
    try:
        sample = written_in(kind, await writer.say(kind.writer, passage))
        reason = refused_by_rules(kind, sample, passage)
        if reason is None and _is_known(sample.question, questions):
            reason = TWICE
        if reason is None:
            reason = await _by_checker(kind, checker, sample, passage)
        difficulty = None
        if reason is None and pilots:
            text = ask_with(kind, sample, passage)
            replies = await asyncio.gather(*(pilot.say("", text) for pilot in pilots))
            difficulty = sum(not is_answered(sample, reply) for reply in replies) / len(replies)
    except (ModelError, TimeoutError) as error:
        return f"passage {number + 1}: {str(error) or 'no answer in time'}"
    verdict: Literal["accepted", "refused"] = "accepted" if reason is None else "refused"
    return DraftedSample(
        id=hashlib.sha256(f"{sample.question}\n{passage}".encode()).hexdigest()[:12],
        question=sample.question,
        answer=sample.answer,
        passage=passage,
        passage_number=number,
        verdict=verdict,
        reason=reason or "in the passage; answered with it and not without it; not there yet; no leak",
        difficulty=difficulty,
        kind=kind.name,
        choices=sample.choices,
        evidence=sample.evidence,
    )


def _is_known(question: str, questions: Iterable[str]) -> bool:
    words = set(plain(question).split())
    for other in questions:
        theirs = set(plain(other).split())
        # Tower 10 is not tower 14, however alike the words are.
        has_same_numbers = all(not word.isdigit() for word in words ^ theirs)
        if has_same_numbers and len(words & theirs) >= SAME * len(words | theirs):
            return True
    return False


async def _by_checker(kind: DraftKind, checker: DraftingModel, sample: WrittenSample, passage: str) -> str | None:
    if not is_answered(sample, await checker.say("", ask_with(kind, sample, passage))):
        return "a second model does not answer it with the passage"
    if is_answered(sample, await checker.say("", ask_with(kind, sample, None))):
        return "a second model answers it without the passage"
    return None


def read_drafts(path: Path) -> list[DraftedSample]:
    """Every drafted sample of a file; a line that broke off when it was written is left out."""
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            found.append(convert(json.loads(line), DraftedSample))
        except ValueError:
            continue
    return found


def decide(benchmark: Path, sample_id: str, review: Literal["kept", "dropped"]) -> None:
    """Keep a person's decision at once: it is on the disk when this returns."""
    path = drafts_beside(benchmark)
    samples = [replace(one, review=review) if one.id == sample_id else one for one in read_drafts(path)]
    _replace(path, "".join(f"{json.dumps(one.document, ensure_ascii=False)}\n" for one in samples))
    write_benchmark(benchmark, samples, None)


def write_benchmark(
    path: Path,
    samples: Iterable[DraftedSample],
    document: str | None,
    kind: DraftKind | None = None,
    version: str = "1",
) -> None:
    """The benchmark's data: accepted samples that nobody has dropped; its file, where there is none yet."""
    used = [one for one in samples if one.verdict == "accepted" and one.review != "dropped"]
    rows = [
        {"id": one.id, "passage": one.passage, "question": one.question, "answer": one.answer}
        | ({"choices": one.choices} if one.choices else {})
        for one in used
    ]
    _replace(path.with_suffix(".jsonl"), "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    if document is not None and kind is not None and not path.exists():
        told = f"Questions on {document}, drafted by a model and checked; each is asked with the passage it rests on."
        text = _BENCHMARK.format(
            name=_quoted(path.stem),
            version=_quoted(version),
            description=_quoted(told),
            data=_quoted(path.with_suffix(".jsonl").name),
        )
        text = text.replace("KIND\n", kind.benchmark)
        _replace(path, text)


def _quoted(text: str) -> str:
    """On one line of YAML, where the two halves in which JSON writes rare characters are none."""
    return yaml.safe_dump(text, default_style='"', allow_unicode=True, width=1_000_000).strip()


_BENCHMARK = """\
name: {name}
version: {version}
description: {description}
dataset:
  source: {data}
KIND
metrics: [accuracy]
"""


def _append(path: Path, sample: DraftedSample) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(sample.document, ensure_ascii=False)}\n")
        file.flush()
        os.fsync(file.fileno())


def _replace(path: Path, text: str) -> None:
    """The file has the old text or the new one, whenever this process ends."""
    fresh = path.with_name(f".{path.name}.new")
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
