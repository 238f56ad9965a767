"""Benchmarks drafted a few passages at a time: whoever asks keeps the samples, decides on each, and has them kept."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import IO, Annotated

from msgspec import Meta, Struct

from proctor.benchmarks.document_text import passages_of, read_document, refuse_ending
from proctor.domain.documents.drafted_sample import DocumentPassages, DraftedSample, DraftedSamples
from proctor.domain.documents.own_benchmark import OwnBenchmark
from proctor.domain.errors import BenchmarkError, PlanError, in_field
from proctor.domain.message import Message, Prompt
from proctor.domain.price import FREE
from proctor.engine.budget import most_it_can_cost
from proctor.models.cost_limit import refuse_unenforceable
from proctor.offline import confined
from proctor.runs.benchmarks.draft import (
    DraftingModel,
    cost_of,
    create_asked,
    draft_batch,
    refuse_same_model,
    write_benchmark,
)
from proctor.runs.benchmarks.draft_kinds import KINDS, KindName
from proctor.runs.benchmarks.own import keep_benchmark
from proctor.runs.resolve import PlanContext
from proctor.stores.database import Database

MAX_PASSAGES = 4
"""At once: so many are asked side by side, and lost where the answer does not arrive."""
MAX_QUESTIONS = 1_000
MAX_SAMPLES = 10_000
"""Of one draft: refused ones are kept too, and may be many times those that were accepted."""
REQUESTS = {"writer": 1, "checker": 2, "pilot": 1}
"""Of each passage."""
REPLY_ROOM = "x " * 2_000
"""As many bytes as a question and four choices have at most that the others are asked."""
Name = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$")]
ModelName = Annotated[str, Meta(min_length=1, max_length=500)]


class NumberedPassage(Struct, frozen=True, forbid_unknown_fields=True):
    number: Annotated[int, Meta(ge=0, le=1_000_000)]
    """Its place in the document, from 0 on."""
    text: Annotated[str, Meta(min_length=1, max_length=20_000)]


class PassagesRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Passages of which a sample each is drafted."""

    passages: Annotated[list[NumberedPassage], Meta(min_length=1, max_length=MAX_PASSAGES)]
    writer: ModelName
    """Writes the samples."""
    checker: ModelName
    """Another model: answers each question with its passage, and without."""
    pilots: Annotated[list[ModelName], Meta(max_length=5)] = []
    """Answer too, for the difficulty."""
    kind: KindName = "qa"
    questions: Annotated[list[Annotated[str, Meta(max_length=2_000)]], Meta(max_length=MAX_QUESTIONS)] = []
    """Those that are there already: none is written twice."""
    cost_usd: Annotated[float, Meta(ge=0, le=100_000)] | None = None
    """Nothing is sent where this could cost more."""


class DraftToKeep(Struct, frozen=True, forbid_unknown_fields=True):
    """A drafted benchmark as somebody has reviewed it."""

    name: Name
    document: Annotated[str, Meta(min_length=1, max_length=200)]
    """What it was drafted from, for its description."""
    samples: Annotated[list[DraftedSample], Meta(min_length=1, max_length=MAX_SAMPLES)]
    version: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$")] = "1"


def read_passages(name: str, content: IO[bytes]) -> DocumentPassages:
    """A document in passages, by the ending of its name; BenchmarkError where it has none, or cannot be read."""
    refuse_ending(Path(name))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"document{Path(name).suffix.lower()}")
        content.seek(0)
        with path.open("wb") as file:
            while part := content.read(1 << 20):
                file.write(part)
        try:
            passages = passages_of(read_document(path))
        except BenchmarkError as error:
            raise BenchmarkError(str(error).replace(path.name, name)) from None
    if not passages:
        raise BenchmarkError(f"{name} has no passage of 80 characters or more.")
    return DocumentPassages(name=name, passages=passages)


class PreparedDraft:
    """Models that are there, and what asking them can cost; nothing was sent yet."""

    def __init__(self, request: PassagesRequest, context: PlanContext, *, is_operator: bool) -> None:
        refuse_same_model(request.writer, request.checker)
        self._request, self._is_offline = request, context.is_offline
        self._asked: list[DraftingModel] = []
        self.held_usd: Decimal | None = None if request.cost_usd is None else Decimal(0)
        roles = [("writer", request.writer), ("checker", request.checker), *(("pilot", one) for one in request.pilots)]
        for role, name in roles:
            with in_field(f"{role}s" if role == "pilot" else role):
                asked = create_asked(name, context, has_named_hosts=is_operator)
                self._asked.append(asked)
                if self.held_usd is not None:
                    self.held_usd += REQUESTS[role] * self._most(asked, name)
        limit = None if request.cost_usd is None else Decimal(str(request.cost_usd))
        if limit is not None and self.held_usd is not None and self.held_usd > limit:
            with in_field("cost_usd"):
                raise PlanError(
                    f"These {len(request.passages)} passages could cost up to ${self.held_usd:.4f}, more than the "
                    f"limit of ${limit}: nothing was sent. Name fewer passages, or raise the limit."
                )

    def _most(self, asked: DraftingModel, name: str) -> Decimal:
        """What one request of each passage can cost."""
        refuse_unenforceable(name, asked.model, asked.price, asked.options)
        if asked.price is None or asked.price is FREE:
            return Decimal(0)
        system = Message("system", KINDS[self._request.kind].writer)
        prompts = (Prompt((system, Message("user", one.text + REPLY_ROOM))) for one in self._request.passages)
        return sum((most_it_can_cost(prompt, asked.options, asked.price, name) for prompt in prompts), Decimal(0))

    def draft(self) -> DraftedSamples:
        """Ask, and check; what fails is said in `notes`."""
        with confined(self._is_offline):
            return asyncio.run(self._draft())

    async def _draft(self) -> DraftedSamples:
        request = self._request
        passages = {one.number: one.text for one in request.passages}
        try:
            made = await draft_batch(KINDS[request.kind], self._asked, passages, request.questions)
        finally:
            for one in self._asked:
                await one.close()
        return DraftedSamples(
            samples=made.samples,
            notes=made.notes,
            requests=sum(one.requests for one in self._asked),
            cost_usd=cost_of(self._asked),
        )


def keep_draft(draft: DraftToKeep, context: PlanContext, database: Database, author: str) -> OwnBenchmark:
    """Keep what was accepted, and not dropped, as a version of one of the project's own benchmarks."""
    _refuse_mixed(draft.samples)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        path = Path(folder, f"{draft.name}.yaml")
        kind = KINDS[draft.samples[0].kind]
        write_benchmark(path, draft.samples, draft.document, kind, draft.version)
        if not path.with_suffix(".jsonl").stat().st_size:
            raise BenchmarkError("No sample is left: all of them were refused or dropped.")
        drafts = path.with_suffix(".drafts.jsonl")
        drafts.write_text(
            "".join(f"{json.dumps(one.document, ensure_ascii=False)}\n" for one in draft.samples), encoding="utf-8"
        )
        found = sorted(Path(folder).iterdir())
        files = [(one.name, opened.enter_context(one.open("rb"))) for one in found]
        return keep_benchmark(files, context, database, author)


def _refuse_mixed(samples: Sequence[DraftedSample]) -> None:
    kinds = {one.kind for one in samples}
    if len(kinds) > 1:
        raise BenchmarkError(f"The samples are of several kinds: {', '.join(sorted(kinds))}. Keep each by itself.")
