"""Demo models: deterministic characters of known strength, for first steps, documentation and tests.

A character solves Proctor's own puzzles and makes seeded mistakes, more of them where the question looks harder. What
it answers depends on the prompt and the sampling options (`seed` among them) and on nothing else: asked the same again,
it says the same again, in every epoch. Token counts are estimated from words.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import NormalDist
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import NotFoundError, PlanError, ProviderFaultError, did_you_mean
from proctor.domain.identity import digest
from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity, TextDelta
from proctor.domain.response import FinishReason, Response, Usage
from proctor.models.demo_answers import blunder, guess, solve
from proctor.models.parts import plain_text
from proctor.models.provider import Provider
from proctor.models.settings import read_settings
from proctor.puzzles.dice import Dice

ADAPTER_VERSION = "1"
SHARED = 0.6
"""How much of what makes a question hard is hard for every character: paired comparisons gain from it, as in life."""


class Character(Struct, frozen=True):
    on_easy: float
    """The chance to be right on the easiest questions."""
    on_hard: float
    rambles: float = 0.0
    """The chance to talk without giving an answer."""
    opening: str = ""


CHARACTERS = {
    "perfect": Character(1.0, 1.0),
    "strong": Character(
        0.98, 0.86, 0.0, "Let me work through this one step at a time, and check the result at the end."
    ),
    "average": Character(0.93, 0.62, 0.01, "First what is asked, then the working."),
    "weak": Character(
        0.75, 0.3, 0.04, "Hmm, I think I have seen something like this before; it should not be too hard."
    ),
    "guesser": Character(0.0, 0.0, 0.0, "I would guess."),
    "silent": Character(0.0, 0.0),
}


class DemoSettings(Struct, frozen=True):
    accuracy: float | None = None
    delay_ms: float = 0.0
    jitter: float = 0.0
    fail_rate: float = 0.0


PROVIDER = Provider(
    "demo",
    f"Deterministic characters for first steps: {', '.join(CHARACTERS)} (tokens estimated from words)",
    is_free=True,
    settings=DemoSettings.__struct_fields__,
)
WORD = re.compile(r"\S+")
PIECE = re.compile(r"\s*\S+\s*\Z|\s*\S+")


class DemoModel:
    def __init__(self, name: str, settings: DemoSettings) -> None:
        version = ADAPTER_VERSION if settings.accuracy is None else f"{ADAPTER_VERSION};accuracy={settings.accuracy:g}"
        if settings.fail_rate:
            # A character that fails is asked itself: answers of one that does not would hide its faults.
            version += f";fail_rate={settings.fail_rate:g}"
        self.identity = ModelIdentity("demo", name, None, version)
        self._character = CHARACTERS[name]
        self._settings = settings
        self._asked: Counter[str] = Counter()

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        started = time.perf_counter()
        text, key = await self._read(prompt, options)
        await self._wait(key, timeout_seconds)
        answer, finish = self._written(prompt, text, key, options)
        return _response(answer, finish, text, time.perf_counter() - started)

    async def stream(
        self,
        prompt: Prompt,
        options: Mapping[str, Json],
        *,
        timeout_seconds: float,
        on_delta: Callable[[TextDelta], None],
    ) -> Response:
        """As `respond`: the time that `delay_ms` gives an answer is spread over its words."""
        started = time.perf_counter()
        text, key = await self._read(prompt, options)
        answer, finish = self._written(prompt, text, key, options)
        pieces = PIECE.findall(answer) or [""]
        first_token = None
        for piece in pieces:
            await self._wait(key, timeout_seconds, 1 / len(pieces))
            if first_token is None and piece:
                first_token = time.perf_counter() - started
            on_delta(TextDelta(piece))
        response = _response(answer, finish, text, time.perf_counter() - started)
        return replace(response, first_token_seconds=first_token)

    async def _read(self, prompt: Prompt, options: Mapping[str, Json]) -> tuple[str, str]:
        text = await plain_text(prompt, f"demo/{self.identity.name}")
        return text, digest([text, dict(options)])

    def _written(
        self, prompt: Prompt, text: str, key: str, options: Mapping[str, Json]
    ) -> tuple[str, FinishReason]:  # fmt: skip
        self._fail(key)
        question = next((message.text for message in reversed(prompt.messages) if message.role == "user"), text)
        answer = "" if self.identity.name == "silent" else self._answer(question, key)
        return _shortened(answer, options.get("max_tokens"))

    async def close(self) -> None:
        self._asked.clear()

    async def _wait(self, key: str, timeout_seconds: float, part: float = 1.0) -> None:
        if not self._settings.delay_ms:
            return
        spread = 1 + self._settings.jitter * (2 * Dice("delay", key).below(10_001) / 10_000 - 1)
        seconds = self._settings.delay_ms * spread / 1000
        await asyncio.sleep(min(seconds, timeout_seconds) * part)
        if seconds > timeout_seconds:
            raise ProviderFaultError(f"demo/{self.identity.name}: no complete answer within {timeout_seconds:g} s")

    def _fail(self, key: str) -> None:
        """Which attempts at a prompt fail is fixed too: trying again can help, as with a real provider."""
        if not self._settings.fail_rate:
            return
        self._asked[key] += 1
        if Dice("fault", key, self._asked[key]).below(1_000_000) < self._settings.fail_rate * 1_000_000:
            raise ProviderFaultError(f"demo/{self.identity.name} failed, as fail_rate asks")

    def _answer(self, question: str, key: str) -> str:
        character = self._character
        dice = Dice("character", self.identity.name, key)
        right = solve(question)
        if right is None:
            return _spoken(character, guess(question, dice), dice)
        if self.identity.name != "guesser" and dice.below(1_000_000) < character.rambles * 1_000_000:
            return f"{character.opening} It depends on how one looks at it, and I would rather not commit myself."
        if self.identity.name == "guesser" and self._settings.accuracy is None:
            return _spoken(character, guess(question, dice), dice)
        is_right = self._is_right(question, dice)
        return _spoken(character, right if is_right else blunder(question, right, dice), dice)

    def _is_right(self, question: str, dice: Dice) -> bool:
        chance = self._settings.accuracy
        if chance is None:
            hardness = min(1.0, max(0.0, (len(question) - 70) / 330))
            chance = self._character.on_easy + (self._character.on_hard - self._character.on_easy) * hardness
        if chance in (0.0, 1.0):
            return bool(chance)
        normal = NormalDist()
        common = normal.inv_cdf((Dice("hard", question).below(2**40) + 0.5) / 2**40)
        own = normal.inv_cdf((dice.below(2**40) + 0.5) / 2**40)
        return bool(SHARED * common + (1 - SHARED**2) ** 0.5 * own < normal.inv_cdf(chance))


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> DemoModel:  # noqa: ARG001
    if name not in CHARACTERS:
        hint = did_you_mean(name, CHARACTERS)
        raise NotFoundError(f"No demo model {name!r}.{hint} There are: {', '.join(CHARACTERS)}.")
    given = read_settings(DemoSettings, settings, PROVIDER.name)
    for setting in ("accuracy", "jitter", "fail_rate"):
        value = getattr(given, setting)
        if value is not None and not 0 <= value <= 1:
            raise PlanError(f"demo: the setting {setting!r} lies between 0 and 1, not {value:g}.")
    if not 0 <= given.delay_ms <= 3_600_000:
        raise PlanError(f"demo: the setting 'delay_ms' lies between 0 and an hour, not {given.delay_ms:g}.")
    return DemoModel(name, given)


def _spoken(character: Character, answer: str, dice: Dice) -> str:
    if not character.opening:
        return f"ANSWER: {answer}"
    closing = dice.pick(("So that is it.", "That settles it.", "Done."))
    return f"{character.opening} {closing}\n\nANSWER: {answer}"


def _shortened(answer: str, max_tokens: Any) -> tuple[str, FinishReason]:
    words = list(WORD.finditer(answer))
    if isinstance(max_tokens, int) and len(words) > max_tokens:
        return answer[: words[max_tokens - 1].end()], FinishReason.LENGTH
    return answer, FinishReason.STOP


def _response(answer: str, finish: FinishReason, prompt: str, seconds: float) -> Response:
    usage = Usage(input_tokens=len(WORD.findall(prompt)), output_tokens=len(WORD.findall(answer)))
    return Response(answer, finish, usage, latency_seconds=seconds)
