"""Everything that stands between a trial and one model: concurrency, retries, circuit breaker, time limits."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from decimal import Decimal
from functools import partial

from msgspec.structs import replace

from proctor.domain.errors import (
    ModelError,
    ModelUnavailableError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
    UnusableAnswerError,
)
from proctor.domain.event import ConcurrencyChanged, FaultSeen, ModelGivenUp, Observer
from proctor.domain.measuring import measure
from proctor.domain.message import Json, Message, Prompt
from proctor.domain.model import Model
from proctor.domain.price import Price
from proctor.domain.response import FinishReason, Response, Usage
from proctor.domain.text import message_of
from proctor.domain.tracing import Attributes, is_traced, span
from proctor.domain.trial import Answer, Trial
from proctor.engine.breaker import CircuitBreaker
from proctor.engine.budget import Budget, reservation
from proctor.engine.limiter import AdaptiveLimit
from proctor.engine.ratelimit import RateLimits, RequestLimit
from proctor.engine.retry import RetryPolicy, retry
from proctor.engine.time_limit import TimeLimit

log = logging.getLogger("proctor.models")
REJECTIONS_BEFORE_GIVING_UP = 20
MAX_ANSWER_CHARACTERS = 64 * 1024 * 1024
"""Characters; servers are read no further than this anyway."""
KEPT_OF_LONGER = 10_000
"""Characters kept of an answer that is longer, to see what it was."""
# The model's own time limit should strike first; this one catches a model that ignores it.
TIMEOUT_GRACE_SECONDS = 1.0


class _Conversation:
    """What was said of a trial so far: a turn that failed is asked again, and none that was answered and paid for."""

    __slots__ = ("_turns", "next_prompt", "response", "retries", "trial")

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.response: Response | None = None
        self.retries = 0
        self.next_prompt: Prompt | None = trial.prompt
        """All that was said, and what is asked next; None when everything was, or nothing follows the last answer."""
        self._turns = 0

    def add(self, prompt: Prompt, response: Response) -> None:
        """Usage and latency add up."""
        self.response = response if self.response is None else joined(self.response, response)
        follow_ups = self.trial.sample.follow_ups
        if self._turns == len(follow_ups) or response.finish_reason is FinishReason.UNUSABLE:
            self.next_prompt = None
            return
        said = (Message("assistant", response.text), Message("user", follow_ups[self._turns]))
        self.next_prompt = prompt.with_messages((*prompt.messages, *said))
        self._turns += 1

    def end_early(self, error: ModelError) -> bool:
        """End it with what was answered so far, where a provider refused the request that has these answers in it.

        Whatever an answer does, it is scored: one that is too long to be sent again is no fault.
        """
        if self.response is None or not isinstance(error, RequestRejectedError) or not error.was_free:
            return False
        why = f"follow-up {self._turns} was refused, so the conversation ended with the answer before it: {error}"
        note = why if self.response.note is None else f"{self.response.note}; {why}"
        # Asked again, it may go on: it is not kept for other runs.
        finish = FinishReason.OTHER if self.response.is_cacheable else self.response.finish_reason
        self.response = replace(self.response, note=note, finish_reason=finish)
        self.next_prompt = None
        return True


class ModelGate:
    """One model's way in: `ask` gives an Answer, or None when the run was stopped before there was one."""

    def __init__(
        self,
        model: Model,
        label: str,
        *,
        concurrency: int,
        retries: int,
        timeout_seconds: float,
        stopping: asyncio.Event,
        observe: Observer,
        price: Price | None = None,
        budget: Budget | None = None,
        rate: RequestLimit | None = None,
        breaker: CircuitBreaker | None = None,
        limit: AdaptiveLimit | None = None,
    ) -> None:
        """`limit` is one that has learned from earlier requests; it tells nobody of its changes."""
        self.label = label
        self._provider, _, self._name = label.partition("?")[0].partition("/")
        self._rate = rate or RateLimits().of(model)
        self._price = price
        self._budget = budget
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._time_limit = TimeLimit(timeout_seconds + TIMEOUT_GRACE_SECONDS)
        self._stopping = stopping
        self._observe = observe
        self._breaker = breaker or CircuitBreaker()
        self._limit = limit or AdaptiveLimit(concurrency, lambda now: observe(ConcurrencyChanged(label, now)))
        self._policy = RetryPolicy(retries)
        self._has_answered = False
        self._rejections_in_a_row = 0
        self.given_up: str | None = None

    @property
    def is_closed(self) -> bool:
        return self.given_up is not None or self._stopping.is_set()

    async def ask(self, trial: Trial) -> Answer | None:
        """Ask until there is an answer or a reason not to; a fault is an Answer without a response."""
        talk = _Conversation(trial)
        try:
            response = await retry(partial(self._request, talk), self._policy, partial(self._wait, talk))
        except ModelError as error:
            if self.given_up is not None:
                return None
            return Answer(trial, None, error=f"{type(error).__name__}: {error}", retries=talk.retries)
        return None if response is None else Answer(trial, response, retries=talk.retries)

    async def _request(self, talk: _Conversation) -> Response | None:
        """One try, from the turn the last one got to; None when the run was stopped before there was an answer."""
        if not self.is_closed:
            await self._breaker.admit()
        started = await self._limit.acquire()
        try:
            is_stopped = self.is_closed
            while not is_stopped and (prompt := talk.next_prompt) is not None:
                response = await self._turn(prompt, talk.trial.options)
                if response is None:
                    is_stopped = True
                else:
                    talk.add(prompt, response)
            if is_stopped:
                self._breaker.released()
                return None
        except ModelError as error:
            if isinstance(error, RateLimitedError):
                self._limit.rate_limited(started)
            elif isinstance(error, ProviderFaultError):
                self._limit.faulted()
            self._learn_from(error)
            if not talk.end_early(error):
                raise
            return talk.response
        finally:
            self._limit.release()
        self._limit.succeeded()
        if not self._breaker.is_calm:
            self._tell_breaker(self._breaker.succeeded)
        self._has_answered = True
        self._rejections_in_a_row = 0
        return talk.response

    def _learn_from(self, error: ModelError) -> None:
        """Decide whether the model is worth any further request."""
        if isinstance(error, ModelUnavailableError):
            self._give_up(str(error))
        elif isinstance(error, ProviderFaultError):
            self._tell_breaker(partial(self._breaker.failed, is_alive=error.status is not None))
            if self._breaker.is_spent:
                self._give_up(f"it stayed down: {error}")
        elif not isinstance(error, RateLimitedError):
            # A rejection is an answer of a working server, but twenty in a row with no success mean a wrong set-up.
            self._tell_breaker(self._breaker.succeeded)
            self._rejections_in_a_row += 1
            if not self._has_answered and self._rejections_in_a_row >= REJECTIONS_BEFORE_GIVING_UP:
                self._give_up(f"it rejected the first {self._rejections_in_a_row} requests: {error}")

    def _tell_breaker(self, tell: Callable[[], None]) -> None:
        was_open = self._breaker.is_open
        tell()
        if self._breaker.is_open and not was_open:
            measure("breaker_opened", provider=self._provider)
        if self._breaker.is_open != was_open:
            measure("breakers_open", 1.0 if self._breaker.is_open else -1.0, provider=self._provider)

    def _give_up(self, reason: str) -> None:
        if self.given_up is None:
            reason = reason.replace(f"{self.label}: ", "")  # adapters name the model too, and once is enough
            self.given_up = reason
            self._observe(ModelGivenUp(self.label, reason))

    async def _wait(self, talk: _Conversation, error: ModelError, seconds: float, retries: int) -> None:
        """Tell of a fault and wait before the next try; a model that was given up gets none."""
        if self.given_up is not None:
            raise error
        self._observe(FaultSeen(self.label, str(error), isinstance(error, RateLimitedError)))
        talk.retries = retries
        await self._pause(seconds)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
        except TimeoutError:
            return

    async def _turn(self, prompt: Prompt, options: Mapping[str, Json]) -> Response | None:
        """One request, paid for; None when the run stops before that, or when there is no money left for it."""
        send = self._send_traced if is_traced() else self._send
        if self._budget is None or self._price is None:
            set_aside = await self._admit(prompt)
            return None if set_aside is None else await send(prompt, options, set_aside)
        reserved = await reservation(prompt, options, self._price, self.label)
        if not await self._budget.reserve(reserved):
            return None
        spent = Decimal(0)
        try:
            set_aside = await self._admit(prompt)
            if set_aside is None:
                return None
            spent = reserved  # What is not known to have been free counts in full.
            response = await send(prompt, options, set_aside)
            if response.cost_usd is not None and not response.may_cost_more:
                spent = response.cost_usd
        except ModelError as error:
            if error.was_free:
                spent = Decimal(0)
            raise
        finally:
            self._budget.settle(reserved, spent)
        return response

    def _admit(self, prompt: Prompt) -> Awaitable[float | None]:
        characters = len(prompt.text) if self._rate.is_counting_tokens else 0
        return self._rate.admit(characters, self._stopping)

    async def _send(self, prompt: Prompt, options: Mapping[str, Json], set_aside: float) -> Response:
        """One request, sent at once: a place among the requests in flight is held for it.

        The log says what came of it and never what was said.
        """
        started = time.perf_counter()
        response: Response | None = None
        try:
            with self._time_limit:
                response = await self._model.respond(prompt, options, timeout_seconds=self._timeout_seconds)
        except UnusableAnswerError as error:
            response = Response.unusable(str(error), time.perf_counter() - started)
        except ModelError as error:
            self._note(error, started)
            raise
        except TimeoutError:
            late = ProviderFaultError(f"no answer within {self._timeout_seconds:g} s")
            raise self._note(late, started) from None
        except Exception as error:
            # An adapter's bug, met by this one request: it must not take the answers of others with it.
            why = f"{self.label}: the adapter failed: {type(error).__name__}: {message_of(error)}"
            raise self._note(RequestRejectedError(why), started) from error
        finally:
            if response is None:
                self._rate.settle(set_aside, None, None)
            else:
                self._rate.settle(set_aside, response.usage, response.rate, further=len(response.turns))
        if log.isEnabledFor(logging.DEBUG):
            said = {"model": self.label, "provider_request_id": response.request_id, "seconds": _since(started)}
            log.debug("model_answered", extra=said)
        return self._completed(response, started)

    async def _send_traced(self, prompt: Prompt, options: Mapping[str, Json], set_aside: float) -> Response:
        with span(f"chat {self._name}", self._request_attributes(options), kind="client") as tracing:
            response = await self._send(prompt, options, set_aside)
            tracing.set(_response_attributes(response))
        return response

    def _completed(self, response: Response, started: float) -> Response:
        """With a length, a time and a cost; what the provider says it cost wins over what the price list says."""
        if len(response.text) > MAX_ANSWER_CHARACTERS:
            response = _cut(response)
        if response.latency_seconds is None:
            response = replace(response, latency_seconds=time.perf_counter() - started)
        if response.cost_usd is None and self._price is not None:
            response = replace(response, cost_usd=self._price.cost(response.usage))
        return response

    def _note(self, error: ModelError, started: float) -> ModelError:
        """Count and log a fault."""
        measure("model_faults", provider=self._provider, kind=_kind_of(error))
        if log.isEnabledFor(logging.INFO):
            fields = {"model": self.label, "fault": type(error).__name__, "seconds": _since(started)}
            log.info("model_failed", extra={**fields, "status": error.status})
        return error

    def _request_attributes(self, options: Mapping[str, Json]) -> Attributes:
        """As OpenTelemetry's conventions for generative AI name them."""
        numbers = {name: value for name, value in options.items() if isinstance(value, int | float)}
        return {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._provider,
            "gen_ai.request.model": self._name,
            "gen_ai.request.temperature": numbers.get("temperature"),
            "gen_ai.request.top_p": numbers.get("top_p"),
            "gen_ai.request.max_tokens": numbers.get("max_tokens"),
            "gen_ai.request.seed": numbers.get("seed"),
        }


def _response_attributes(response: Response) -> Attributes:
    return {
        "gen_ai.response.id": response.request_id,
        "gen_ai.response.model": response.model,
        "gen_ai.response.finish_reasons": (str(response.finish_reason),),
        "gen_ai.usage.input_tokens": response.usage.input_tokens,
        "gen_ai.usage.output_tokens": response.usage.output_tokens,
    }


def _kind_of(error: ModelError) -> str:
    if isinstance(error, RateLimitedError):
        return "rate limit"
    if isinstance(error, ModelUnavailableError):
        return "unavailable"
    return "fault" if isinstance(error, ProviderFaultError) else "rejected"


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 4)


def _cut(response: Response) -> Response:
    """The beginning of an answer that is too long: it is no fault, and counts."""
    note = f"the answer has {len(response.text):,} characters, over the limit of {MAX_ANSWER_CHARACTERS:,}"
    return replace(
        response, text=response.text[:KEPT_OF_LONGER], finish_reason=FinishReason.UNUSABLE, note=note, files={}
    )


def joined(earlier: Response, last: Response) -> Response:
    """Two answers of one conversation as one: what they took adds up, the last text counts."""

    def total(a: int | None, b: int | None) -> int | None:
        return None if a is None or b is None else a + b

    first, second = earlier.usage, last.usage
    usage = Usage(
        input_tokens=total(first.input_tokens, second.input_tokens),
        output_tokens=total(first.output_tokens, second.output_tokens),
        reasoning_tokens=total(first.reasoning_tokens, second.reasoning_tokens),
        cached_tokens=total(first.cached_tokens, second.cached_tokens),
        cache_write_tokens=total(first.cache_write_tokens, second.cache_write_tokens),
    )
    cost = None if earlier.cost_usd is None or last.cost_usd is None else earlier.cost_usd + last.cost_usd
    latency = (earlier.latency_seconds or 0.0) + (last.latency_seconds or 0.0)
    return replace(
        last,
        usage=usage,
        cost_usd=cost,
        latency_seconds=latency,
        turns=(*earlier.turns, earlier.text),
        first_token_seconds=earlier.first_token_seconds,
    )
