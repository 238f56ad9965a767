"""Answers while they grow: every model is asked by a task of its own, and what it wrote is kept a few times a second.

Nobody waits for anybody here: a model that fails or hangs ends or delays its own task only. Whoever follows reads what
has come so far, in this process from memory, in another from the database.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from msgspec import Struct, field, to_builtins

from proctor.domain.errors import BenchmarkError, LimitReachedError, ProctorError, StoreError
from proctor.domain.message import Json
from proctor.domain.model import Allowance, Model, StreamsText, TextDelta, allowance_of, max_concurrency_of
from proctor.domain.plan import Limits
from proctor.domain.price import basis_kind
from proctor.domain.response import FinishReason, Response
from proctor.domain.text import shorten, storable
from proctor.engine.ratelimit import MemoryLimits, RequestLimit, RunLimits
from proctor.json_schema import find_broken_rules
from proctor.offline import confined
from proctor.runs.playground.asking import AskedModel, PreparedAsk
from proctor.stores.accounts.budgets import BudgetStore
from proctor.stores.database import Database
from proctor.stores.playground import OPEN_STATES, AnswerRow, PlaygroundStore

log = logging.getLogger("proctor.playground")
KEEP_SECONDS = 0.5
"""How often what has grown is written down."""
STOP_SECONDS = 5.0
RATES_OF = "playground"
"""What asks are called among runs where limits are shared: how fast a model may be asked holds for all together."""
MAX_OPEN = 240
"""Answers that one process waits for at once."""
ENDED = "The server ended while this was being answered; it may have been billed. Ask again."


class GrowingText:
    """Pieces, joined only when somebody reads them."""

    __slots__ = ("_pieces", "size")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.size = 0

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self.size += len(piece)

    def read(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


class LiveAnswer:
    """One model's answer as it stands."""

    def __init__(self, asked: AskedModel) -> None:
        self.asked = asked
        self.text, self.reasoning = GrowingText(), GrowingText()
        self.state = "waiting"
        self.details: Mapping[str, Any] = {}
        self.kept = (0, 0)
        """How much of both is written down."""
        self.first_token_seconds: float | None = None
        self.sent_at = time.perf_counter()
        """When it was asked: waiting for the model's turn is not its time."""
        self.task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    def row(self) -> AnswerRow:
        return AnswerRow(
            slot=self.asked.slot,
            position=self.asked.position,
            model=self.asked.label,
            state=self.state,
            text=self.text.read(),
            reasoning=self.reasoning.read(),
            details=self.details or {"first_token_seconds": self.first_token_seconds},
        )


class LiveAsk(Struct, eq=False):
    """An ask of this process; `changed` is set and replaced whenever something came."""

    id: str
    answers: Mapping[str, LiveAnswer]
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    written: set[str] = field(default_factory=set)
    """The answers whose end is in the database."""

    def notify(self) -> None:
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    def rows(self) -> list[AnswerRow]:
        return [self.answers[slot].row() for slot in sorted(self.answers)]

    async def stop(self, slots: Iterable[str]) -> None:
        """Stop these answers; what they wrote stays, and is written down when this returns."""
        tasks = [one.task for slot in slots if (one := self.answers.get(slot)) is not None and one.task is not None]
        for task in tasks:
            task.cancel("stopped")
        if tasks:
            await asyncio.wait(tasks)
        with contextlib.suppress(TimeoutError):  # a database that is away gets it later
            async with asyncio.timeout(STOP_SECONDS):
                while not self.is_written(slots):
                    await self.changed.wait()

    def is_written(self, slots: Iterable[str]) -> bool:
        """Whether how these answers ended is in the database."""
        return self.done.is_set() or self.written.issuperset(slot for slot in slots if slot in self.answers)

    def open_answers(self) -> list[LiveAnswer]:
        return [one for one in self.answers.values() if one.is_open]


class Playground:
    """The asks that this process answers; how fast a model allows to be asked holds for all of them, and for runs
    as far as `limits` are shared with those who execute them."""

    def __init__(self, limits: RunLimits | None = None) -> None:
        self._asks: dict[str, LiveAsk] = {}
        self._limits, self._is_shared = limits or MemoryLimits(), limits is not None
        self._closing = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, ask_id: str) -> LiveAsk | None:
        return self._asks.get(ask_id)

    def has_room_for(self, count: int) -> bool:
        return sum(len(ask.open_answers()) for ask in self._asks.values()) + count <= MAX_OPEN

    def begin(self, ask_id: str, prepared: PreparedAsk, database: Database, *, is_offline: bool) -> LiveAsk:
        """Ask every model at once; called on the event loop, after the ask was written down."""
        ask = LiveAsk(ask_id, {one.slot: LiveAnswer(one) for one in prepared.models})
        self._asks[ask_id] = ask
        with confined(is_offline):
            for answer in ask.answers.values():
                limit = self._limit_of(answer.asked.model)
                answer.task = asyncio.create_task(_answer(ask, answer, prepared, limit, self._closing))
            task = asyncio.create_task(self._watch(ask, database))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return ask

    def _limit_of(self, model: Model) -> RequestLimit | None:
        """None for a model that says nothing of how fast it may be asked: then nobody waits for anything.

        In one process a limit is kept as long as the process: it is of those who say the same, or whoever says once
        that a model may be asked once a day would slow down everybody else.
        """
        allowance = allowance_of(model)
        if allowance == Allowance() and max_concurrency_of(model) is None:
            return None
        said = (allowance.requests_per_minute, allowance.tokens_per_minute)
        name = RATES_OF if self._is_shared else f"{RATES_OF} {said}"
        return self._limits.of_run(name, Limits()).of(model)

    async def close(self) -> None:
        """End what is still being answered, and write down what there is of it."""
        self._closing.set()
        for ask in self._asks.values():
            for answer in ask.open_answers():
                answer.details = {"error": ENDED}
                if answer.task is not None:
                    answer.task.cancel("ended")
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _watch(self, ask: LiveAsk, database: Database) -> None:
        """Write down what grows, until nothing does any more."""
        store = PlaygroundStore(database)
        waiting = {answer.task for answer in ask.answers.values() if answer.task is not None}
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=KEEP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            with contextlib.suppress(StoreError):  # the next look writes it
                await asyncio.to_thread(_keep, store, ask)
                if done:
                    ask.notify()
                else:
                    wanted = await asyncio.to_thread(store.open_slots, ask.id)
                    for answer in ask.open_answers():  # another process was told to stop it
                        if answer.asked.slot not in wanted and answer.task is not None:
                            answer.task.cancel("stopped")
        while len(ask.written) < len(ask.answers):
            try:
                await asyncio.to_thread(_keep, store, ask)
            except StoreError:
                await asyncio.sleep(KEEP_SECONDS)
        with contextlib.suppress(StoreError):  # then all that was reserved counts as spent
            await asyncio.to_thread(BudgetStore(database).settle_work, ask.id, _spent_usd(ask))
        ask.done.set()
        del self._asks[ask.id]
        ask.notify()


def _spent_usd(ask: LiveAsk) -> Decimal:
    """What the answers cost; one whose cost is not known may have cost all that was reserved for it."""
    costs = ((one.details.get("cost_usd"), one.asked.held_usd) for one in ask.answers.values())
    return sum((held if cost is None else Decimal(cost) for cost, held in costs), Decimal(0))


def _keep(store: PlaygroundStore, ask: LiveAsk) -> None:
    grown, living = {}, []
    for slot, answer in ask.answers.items():
        if slot in ask.written:
            continue
        if not answer.is_open:
            store.finish(ask.id, answer.row())
            ask.written.add(slot)
            continue
        living.append(slot)
        size = (answer.text.size, answer.reasoning.size)
        if size != answer.kept:
            grown[slot] = (answer.text.read(), answer.reasoning.read())
            answer.kept = size
    if grown or living:
        store.grow(ask.id, grown, living)


async def _answer(
    ask: LiveAsk, answer: LiveAnswer, prepared: PreparedAsk, limit: RequestLimit | None, closing: asyncio.Event
) -> None:
    """Ask one model, once it may be; whatever becomes of it, it has ended afterwards."""
    asked = answer.asked

    def take(delta: TextDelta) -> None:
        if delta.text or delta.reasoning:
            if answer.first_token_seconds is None:
                answer.first_token_seconds = time.perf_counter() - answer.sent_at
            answer.state = "streaming"
            answer.text.add(storable(delta.text))
            answer.reasoning.add(storable(delta.reasoning))
            ask.notify()

    state = "failed"
    details: dict[str, Json] = {"error": "The server made a mistake."}
    try:
        response = await _respond(answer, prepared, take, limit, closing)
        problems = await asyncio.to_thread(_schema_problems, prepared.request.answer_schema, response)
        _complete_text(answer, response)
        details = _details(asked, response, time.perf_counter() - answer.sent_at, answer.first_token_seconds)
        state, details["schema_problems"] = "complete", problems
        if answer.text.read() != response.text:  # it was not the beginning of what the answer came to
            answer.text = GrowingText()
            answer.text.add(response.text)
            details["is_replaced"] = True
    except asyncio.CancelledError:
        state = "failed" if answer.details else "stopped"
        details = {**answer.details, "latency_seconds": time.perf_counter() - answer.sent_at}
    except ProctorError as error:
        details = {"error": shorten(str(error), 2_000), "latency_seconds": time.perf_counter() - answer.sent_at}
    except Exception:  # of ours: its own answer says so, and no other is held up by it
        log.exception("asking %s failed", asked.label)
    finally:
        details.setdefault("first_token_seconds", answer.first_token_seconds)
        answer.details, answer.state = details, state
        ask.notify()
        with contextlib.suppress(ProctorError, asyncio.CancelledError):
            await asked.model.close()


async def _respond(
    answer: LiveAnswer, prepared: PreparedAsk, take: Any, limit: RequestLimit | None, closing: asyncio.Event
) -> Response:
    if limit is None:
        return await _send(answer, prepared, take)
    characters, seconds = len(prepared.prompt.text) if limit.is_counting_tokens else 0, prepared.request.timeout_seconds
    try:
        async with asyncio.timeout(seconds):
            set_aside = await limit.admit(characters, closing)
    except TimeoutError:
        raise LimitReachedError(
            f"It was not asked: so many ask it that its rpm or tpm left no turn within {seconds:g} seconds.", seconds
        ) from None
    if set_aside is None:
        raise asyncio.CancelledError
    response: Response | None = None
    try:
        response = await _send(answer, prepared, take)
    finally:
        if response is None:
            limit.settle(set_aside, None, None)
        else:
            limit.settle(set_aside, response.usage, response.rate, further=len(response.turns))
    return response


async def _send(answer: LiveAnswer, prepared: PreparedAsk, take: Any) -> Response:
    asked, seconds = answer.asked, prepared.request.timeout_seconds
    answer.sent_at = time.perf_counter()
    if isinstance(asked.model, StreamsText):
        return await asked.model.stream(prepared.prompt, asked.options, timeout_seconds=seconds, on_delta=take)
    return await asked.model.respond(prepared.prompt, asked.options, timeout_seconds=seconds)


def _complete_text(answer: LiveAnswer, response: Response) -> None:
    """What came without having been streamed."""
    for grown, whole in ((answer.text, response.text), (answer.reasoning, response.reasoning or "")):
        if whole.startswith(grown.read()):
            grown.add(whole[grown.size :])


def _details(
    asked: AskedModel, response: Response, seconds: float, first_token_seconds: float | None
) -> dict[str, Json]:  # fmt: skip
    usage, cost, basis = response.usage, response.cost_usd, response.cost_basis
    if cost is None and asked.price is not None:
        cost = asked.price.cost(usage)
        basis = asked.price.basis if cost is not None else None
    first = response.first_token_seconds if response.first_token_seconds is not None else first_token_seconds
    latency = response.latency_seconds if response.latency_seconds is not None else seconds
    return {
        "finish_reason": response.finish_reason.value,
        "usage": to_builtins(usage),
        "cost_usd": None if cost is None else f"{cost:f}",
        "cost_basis": basis_kind(basis) if cost is not None else None,
        "first_token_seconds": first,
        "latency_seconds": latency,
        "tokens_per_second": _rate(usage.output_tokens, first, latency),
        "tool_calls": [
            {"name": call.name, "arguments": call.arguments, "problem": call.problem} for call in response.tool_calls
        ],
        **({"note": response.note} if response.finish_reason is FinishReason.UNUSABLE else {}),
    }


def _rate(tokens: int | None, first: float | None, latency: float) -> float | None:
    """Tokens a second once it had begun; None for an answer that came all at once."""
    if tokens is None or first is None or latency - first < 0.001 or tokens < 2:
        return None
    return (tokens - 1) / (latency - first)


def _schema_problems(schema: Mapping[str, Json] | None, response: Response) -> list[str] | None:
    """Which rules of the schema the answer breaks; None where there is no schema."""
    import json

    if schema is None:
        return None
    try:
        return find_broken_rules(schema, json.loads(response.text))
    except (ValueError, RecursionError):
        return ["the answer is not JSON"]
    except BenchmarkError as error:
        return [str(error)]
