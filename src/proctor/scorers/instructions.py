"""Whether the response follows the instructions it was given: the 25 kinds of IFEval, strictly and loosely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from proctor.domain.errors import BenchmarkError, ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.instruction_kinds import ASK_LANGUAGE, KINDS
from proctor.scorers.options import build, version_of
from proctor.scorers.reading import LONG, final_text

NAME = "instructions"
REVISION = "1"
NO_INSTRUCTIONS = "the sample has no instruction_id_list"


@traits(needs_target=False, has_votes=False)
def create(**options: Json) -> InstructionFollowing:
    """Strictly, at prompt level: the figure that is quoted most."""
    scorer = build(InstructionFollowing, NAME, options)
    if scorer.detector == "langdetect" and find_spec("langdetect") is None:
        raise BenchmarkError("The option 'detector: langdetect' needs the package langdetect: pip install langdetect.")
    return scorer


@traits(needs_target=False, has_votes=False)
def create_loose(**options: Json) -> InstructionFollowing:
    return create(**{"mode": "loose", **options})


@traits(needs_target=False, has_votes=False)
def create_each(**options: Json) -> InstructionFollowing:
    """Strictly, every instruction counted by itself."""
    return create(**{"level": "instruction", **options})


@traits(needs_target=False, has_votes=False)
def create_each_loose(**options: Json) -> InstructionFollowing:
    return create(**{"mode": "loose", "level": "instruction", **options})


@dataclass(frozen=True, slots=True)
class InstructionFollowing:
    """At prompt level 1 when every instruction is followed; at instruction level the share of them, weighed by number.

    The instructions are the sample's metadata `instruction_id_list` and `kwargs`. Loose marking forgives a first or
    last line that does not belong to the answer, and asterisks. `details` has both markings and both levels.
    """

    mode: Literal["strict", "loose"] = "strict"
    level: Literal["prompt", "instruction"] = "prompt"
    detector: Literal["own", "langdetect"] = "own"
    """How a text's language is told: `langdetect` as in the published marking, which misjudges very short texts."""

    @property
    def name(self) -> str:
        each = "_each" if self.level == "instruction" else ""
        return f"{NAME}{each}{'_loose' if self.mode == 'loose' else ''}"

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        ids = sample.metadata.get("instruction_id_list")
        if not ids or not isinstance(ids, list | tuple):
            return NO_INSTRUCTIONS
        given = sample.metadata.get("kwargs")
        if given and len(given) != len(ids):
            return f"{len(ids)} instructions, but arguments (kwargs) for {len(given)}"
        unknown = next((kind for kind in ids if kind not in KINDS), None)
        return None if unknown is None else f"there is no instruction kind {unknown!r}"

    def is_slow_for(self, response: Response) -> bool:
        """langdetect reads 55 profiles before its first text, and takes up to 0.1 s for one."""
        return self.detector == "langdetect" or len(response.text) > LONG

    async def score(self, sample: Sample, response: Response) -> Score:
        ids = sample.metadata.get("instruction_id_list")
        if not ids:
            return Score.unscored(self.name, reason=NO_INSTRUCTIONS)
        text = final_text(response.text)
        if not text:
            return Score.invalid(self.name, reason="the response is empty")
        arguments: Sequence[Mapping[str, Json]] = sample.metadata.get("kwargs") or [{}] * len(ids)
        marks = mark(text, ids, arguments, self.detector)
        followed = marks[self.mode]
        value = sum(followed) / len(followed) if self.level == "instruction" else float(all(followed))
        broken = [kind for kind, is_followed in zip(ids, followed, strict=True) if not is_followed]
        reason = f"not followed: {', '.join(broken)}" if broken else "every instruction is followed"
        details = _details(ids, marks)
        if self.level == "instruction":
            # The published figure counts instructions, not prompts: a prompt with three weighs three.
            details["weight"] = len(ids)
        return Score(self.name, value, answer=text, reason=reason, details=details)


def mark(
    text: str, ids: Sequence[str], arguments: Sequence[Mapping[str, Json]], detector: str = "own"
) -> dict[str, list[bool]]:
    """Strict and loose marks, one for each instruction."""
    if len(ids) != len(arguments):
        raise ScorerError(f"{len(ids)} instructions, but arguments for {len(arguments)}.")
    versions = [version for version in _loose_versions(text) if version.strip()]
    strict, loose = [], []
    for kind, given in zip(ids, arguments, strict=True):
        options = {**given, "detector": detector} if kind in ASK_LANGUAGE else given
        strict.append(_follows(kind, text, options))
        loose.append(strict[-1] or any(_follows(kind, version, options) for version in versions))
    return {"strict": strict, "loose": loose}


def _follows(kind: str, text: str, given: Mapping[str, Json]) -> bool:
    check = KINDS.get(kind)
    if check is None:
        raise ScorerError(f"No instruction kind '{kind}'. There are: {', '.join(KINDS)}.")
    try:
        return check(text, **{key: value for key, value in given.items() if value is not None})
    except TypeError as error:
        raise ScorerError(f"The instruction '{kind}' cannot be checked with {dict(given)}: {error}") from error


def _loose_versions(text: str) -> list[str]:
    """The response without its first line, its last line, both; each also without asterisks."""
    lines = text.split("\n")
    cut = [text, "\n".join(lines[1:]).strip(), "\n".join(lines[:-1]).strip(), "\n".join(lines[1:-1]).strip()]
    return [version for piece in cut for version in (piece, piece.replace("*", ""))]


def _details(ids: Sequence[str], marks: Mapping[str, list[bool]]) -> dict[str, Json]:
    details: dict[str, Json] = {"instructions": list(ids), **marks}
    for mode, followed in marks.items():
        details[f"prompt_{mode}"] = all(followed)
        details[f"instruction_{mode}"] = sum(followed) / len(followed)
    return details
