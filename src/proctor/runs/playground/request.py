"""What is asked of several models at once: four kinds, each of which makes its own prompt and has its own view."""

from __future__ import annotations

import io
import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct, field, to_builtins

from proctor.benchmarks.file_content import inspect
from proctor.domain.documents.playground import PlaygroundFile, PlaygroundView
from proctor.domain.errors import UserError, in_field
from proctor.domain.message import DocumentPart, Image, Json, Message, Part, Prompt, Text
from proctor.domain.text import storable
from proctor.json_schema import find_broken_rules, refuse_unusable_schema
from proctor.prompts.files import part_of
from proctor.stores.playground import AskedFile

MAX_MODELS = 12
MAX_FILES = 16
MAX_TEXT = 400_000
SHOWN_TEXT = "text/plain"
LongText = Annotated[str, Meta(max_length=MAX_TEXT)]


class SentFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file: its bytes in base64, or the id of one that was uploaded. What it is, its content tells."""

    data: Annotated[str, Meta(min_length=1)] | None = None
    file: Annotated[str, Meta(min_length=1, max_length=64)] | None = None
    name: Annotated[str, Meta(min_length=1, max_length=200)] = "file"


class EarlierTurn(Struct, frozen=True, forbid_unknown_fields=True):
    """What was said before the prompt."""

    role: Literal["user", "assistant"]
    text: LongText


Files = Annotated[Sequence[SentFile], Meta(max_length=MAX_FILES)]
SomeFiles = Annotated[Sequence[SentFile], Meta(min_length=1, max_length=MAX_FILES)]


class PlaygroundRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What all kinds have in common."""

    models: Annotated[Sequence[str | Mapping[str, Any]], Meta(min_length=1, max_length=MAX_MODELS)]
    """As in a plan: `provider/name`, or a mapping with options of its own."""
    prompt: LongText = ""
    system: LongText = ""
    history: Annotated[Sequence[EarlierTurn], Meta(max_length=200)] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sampling options for every model, as a plan's `sampling`."""
    tools: Annotated[Sequence[Mapping[str, Any]], Meta(max_length=64)] = ()
    answer_schema: Mapping[str, Any] | None = None
    """A JSON schema that answers are asked to fit, and are checked against."""
    is_blind: bool = False
    """Who is who is told after the vote."""
    cost_usd: Annotated[float, Meta(gt=0)] | None = None
    """A cap: what could cost more is refused before anything is sent."""
    assume_price: Annotated[str, Meta(max_length=40)] | None = None
    """IN/OUT, dollars for a million tokens, for models whose price nobody knows."""
    timeout_seconds: Annotated[float, Meta(gt=0, le=3600)] = 600.0
    FILES: ClassVar[str] = ""
    """The field that holds files, where this kind has one."""

    def parts(self) -> tuple[Part, ...]:
        """What is put before the prompt."""
        return ()

    def text(self) -> str:
        return self.prompt

    def to_prompt(self) -> Prompt:
        """The request as models get it; raises UserError where a part of it cannot be sent."""
        if self.answer_schema is not None:
            with in_field("answer_schema"):
                refuse_unusable_schema(self.answer_schema, "an answer's schema")
        parts, text = self.parts(), storable(self.text())
        if not (parts or text.strip()):
            with in_field("prompt"):
                raise UserError("There is nothing to ask: write a prompt.")
        content = (*parts, *((Text(text),) if text else ())) if parts else text
        earlier = [Message(turn.role, storable(turn.text)) for turn in self.history]
        system = [Message("system", storable(self.system))] if self.system else []
        return Prompt((*system, *earlier, Message("user", content)), tuple(self.tools), self.answer_schema)

    def files(self) -> tuple[AskedFile, ...]:
        """What is kept of the files, in the order in which they were sent."""
        return tuple(
            AskedFile(storable(sent.name), _media_type(part), b64decode(sent.data or ""))
            for sent, part in zip(self.sent(), self.parts(), strict=True)
        )

    def sent(self) -> Sequence[SentFile]:
        found: Sequence[SentFile] = getattr(self, self.FILES, ())
        return found

    def stored(self) -> Mapping[str, Json]:
        """All of it but the content of files."""
        return {name: value for name, value in to_builtins(self).items() if name not in FILE_FIELDS}


class TextRequest(PlaygroundRequest, frozen=True, kw_only=True, tag="text"):
    """A prompt, and text files before it."""

    texts: Files = ()
    FILES: ClassVar[str] = "texts"

    def parts(self) -> tuple[Part, ...]:
        return _parts("texts", self.texts, Text, "a text")


class ImageRequest(PlaygroundRequest, frozen=True, kw_only=True, tag="image"):
    """A prompt about images: PNG, JPEG or WebP."""

    images: SomeFiles
    FILES: ClassVar[str] = "images"

    def parts(self) -> tuple[Part, ...]:
        return _parts("images", self.images, Image, "an image")


class PdfRequest(PlaygroundRequest, frozen=True, kw_only=True, tag="pdf"):
    """A prompt about documents; models that take none are given their text."""

    documents: SomeFiles
    FILES: ClassVar[str] = "documents"

    def parts(self) -> tuple[Part, ...]:
        return _parts("documents", self.documents, DocumentPart, "a PDF")


class StructuredRequest(PlaygroundRequest, frozen=True, kw_only=True, tag="structured"):
    """A JSON value that fits a schema, put after the prompt."""

    input: Any
    input_schema: Mapping[str, Any]

    def text(self) -> str:
        with in_field("input_schema"):
            refuse_unusable_schema(self.input_schema, "the input's schema")
        with in_field("input"):
            if broken := find_broken_rules(self.input_schema, self.input):
                raise UserError(f"The input does not fit its schema: {'; '.join(broken)}.")
        written = json.dumps(self.input, ensure_ascii=False, indent=2)
        return f"{self.prompt}\n\n{written}" if self.prompt else written


REQUESTS: Mapping[str, type[PlaygroundRequest]] = {
    "text": TextRequest,
    "image": ImageRequest,
    "pdf": PdfRequest,
    "structured": StructuredRequest,
}
VIEW = "view"
"""Where it is kept, beside the request's own fields."""
FILE_FIELDS = frozenset({"texts", "images", "documents"})


def view_of(request: PlaygroundRequest, files: Sequence[AskedFile]) -> PlaygroundView:
    """How a request of this kind is shown; raises UserError for a document that cannot be read."""
    shown = [_shown_file(place, file, request.FILES) for place, file in enumerate(files)]
    if isinstance(request, StructuredRequest):
        return PlaygroundView(shown, request.input, request.input_schema)
    return PlaygroundView(shown, None, None)


def _parts(name: str, sent: Sequence[SentFile], kind: type[Part], wanted: str) -> tuple[Part, ...]:
    found: list[Part] = []
    for place, file in enumerate(sent):
        with in_field(name, place):
            try:
                part = part_of(b64decode(file.data or "", validate=True), storable(file.name))
            except ValueError as error:
                said = str(error)
                raise UserError(f"{said[:1].upper()}{said[1:]}.") from None
            if not isinstance(part, kind):
                raise UserError(f"{file.name!r} is not {wanted}: choose the kind that fits it.")
            found.append(part)
    return tuple(found)


def _media_type(part: Part) -> str:
    return part.media_type if isinstance(part, (Image, DocumentPart)) else SHOWN_TEXT


def _shown_file(place: int, file: AskedFile, field_name: str) -> PlaygroundFile:
    """What the file shows of itself; it is looked into by a process with limits."""
    with in_field(field_name, place):
        content = inspect(io.BytesIO(file.content), file.name)
    return PlaygroundFile(
        place,
        file.name,
        file.media_type,
        len(file.content),
        None if content.pages is None else len(content.pages),
        None if content.pages is None else sum(map(len, content.pages)),
        content.width,
        content.height,
    )
