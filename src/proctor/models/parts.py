"""Images and documents in a prompt: looked at, measured, and turned into what a model takes."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from dataclasses import replace

from msgspec import Struct

from proctor.domain.errors import RequestRejectedError
from proctor.domain.message import DocumentPart, Image, Message, Part, Prompt, Text
from proctor.prompts.files import IMAGES, MAX_FILE_BYTES, PDF, sniff


class Accepts(Struct, frozen=True):
    """What a model takes natively; a document it does not take is sent as its text, anything else is refused."""

    images: bool = True
    documents: bool = True
    tools: bool = True
    schema: bool = True
    largest_part: int = MAX_FILE_BYTES


TEXT_ONLY = Accepts(images=False, documents=False, tools=False, schema=False)


async def prepare(prompt: Prompt, accepts: Accepts, model: str) -> Prompt:
    """The prompt with every part checked and its true media type noted; images keep their bytes exactly."""
    # A model that never sees the tools would be marked as one that did not use them.
    if prompt.tools and not accepts.tools:
        raise RequestRejectedError(f"{model} takes no tools, and this prompt offers some")
    if prompt.schema is not None and not accepts.schema:
        raise RequestRejectedError(
            f"{model} cannot be held to a schema, and this prompt asks for an answer that fits one"
        )
    if all(isinstance(message.content, str) for message in prompt.messages):
        return prompt
    return prompt.with_messages([await _message(message, accepts, model) for message in prompt.messages])


async def plain_text(prompt: Prompt, model: str) -> str:
    """The prompt for something that reads text alone: documents as their text, images refused."""
    return (await prepare(prompt, TEXT_ONLY, model)).text


async def _message(message: Message, accepts: Accepts, model: str) -> Message:
    if isinstance(message.content, str):
        return message
    return replace(message, content=tuple([await _part(part, accepts, model) for part in message.content]))


async def _part(part: Part, accepts: Accepts, model: str) -> Part:
    if not isinstance(part, (Image, DocumentPart)):
        return part
    kind = "image" if isinstance(part, Image) else "document"
    if len(part.data) > accepts.largest_part:
        size, limit = len(part.data) / 2**20, accepts.largest_part / 2**20
        raise RequestRejectedError(f"{model}: a {kind} of {size:.1f} MB is over the limit of {limit:g} MB")
    media_type = sniff(part.data)
    if isinstance(part, Image):
        if media_type not in IMAGES:
            found = media_type or "nothing known"
            raise RequestRejectedError(f"{model}: an image must be PNG, JPEG or WebP; its content is {found}")
        if not accepts.images:
            raise RequestRejectedError(f"{model} takes no images, and this prompt holds one")
        return replace(part, media_type=media_type)
    if media_type != PDF:
        found = media_type or "nothing known"
        raise RequestRejectedError(f"{model}: the document {part.name!r} must be a PDF; its content is {found}")
    return await _document(replace(part, media_type=media_type), accepts, model)


async def _document(document: DocumentPart, accepts: Accepts, model: str) -> Part:
    from proctor.prompts.documents import read_pdf

    # Read even when it is sent as it is: a broken or locked file is found here, not after it was paid for.
    text = await asyncio.to_thread(read_pdf, document.data, document.name, model)
    return document if accepts.documents else Text(text)


def data_url(part: Image | DocumentPart) -> str:
    return f"data:{part.media_type};base64,{b64encode(part.data).decode()}"
