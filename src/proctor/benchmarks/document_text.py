"""The text of a document that samples are drafted from: plain text, Markdown, or PDF read within limits."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from proctor.domain.errors import BenchmarkError
from proctor.limited_process import LimitedProcess, WorkLimitError

ENDINGS = (".txt", ".md", ".pdf")
MAX_BYTES = 20_000_000
PDF_SECONDS = 30.0
PASSAGE_CHARACTERS = 1_200
MIN_CHARACTERS = 80


def read_document(path: Path) -> str:
    """All text of a document; a BenchmarkError where it is too large, or none can be read."""
    refuse_ending(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BenchmarkError(f"{path.name} cannot be read: {error.strerror}.") from None
    if len(data) > MAX_BYTES:
        raise BenchmarkError(f"{path.name} has more than {MAX_BYTES:,} bytes, which is the most.")
    if path.suffix.lower() == ".pdf":
        return _text_of_pdf(path.name, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BenchmarkError(f"{path.name} is not UTF-8 text.") from None


def refuse_ending(path: Path) -> None:
    """Raises BenchmarkError for what is no document by its name."""
    if path.suffix.lower() not in ENDINGS:
        raise BenchmarkError(f"{path.name} ends in none of {', '.join(ENDINGS)}.")


def _text_of_pdf(name: str, data: bytes) -> str:
    process = LimitedProcess("proctor.benchmarks.pdf_worker", "reads PDFs", PDF_SECONDS)
    try:
        reply = process.ask(base64.b64encode(data).decode())
    except WorkLimitError as limit:
        raise BenchmarkError(f"{name} cannot be read: {limit}.") from None
    finally:
        process.close()
    if "problem" in reply:
        raise BenchmarkError(f"{name} cannot be read: {reply['problem']}.")
    # A word that goes on in the next line has this sign where its hyphen was.
    text = "\n\n".join(map(str, reply["pages"])).replace("\ufffe", "")
    if not text.strip():
        raise BenchmarkError(f"{name} has no text in it: pages that are images are not read.")
    return text


def passages_of(text: str) -> list[str]:
    """The text in passages of whole paragraphs, none much longer than 1,200 characters."""
    found: list[str] = []
    current = ""
    for paragraph in re.split(r"\n\s*\n", text):
        part = " ".join(paragraph.split())
        for piece in _pieces(part):
            if current and len(current) + len(piece) > PASSAGE_CHARACTERS:
                found.append(current)
                current = ""
            current = f"{current}\n{piece}".strip()
    found.append(current)
    return [passage for passage in found if len(passage) >= MIN_CHARACTERS]


def _pieces(paragraph: str) -> list[str]:
    """A paragraph, or its sentences in groups where it is too long."""
    if len(paragraph) <= PASSAGE_CHARACTERS:
        return [paragraph] if paragraph else []
    pieces, current = [], ""
    for sentence in re.split(r"(?<=[.!?。])\s+", paragraph):
        for start in range(0, len(sentence), PASSAGE_CHARACTERS):
            part = sentence[start : start + PASSAGE_CHARACTERS]
            if current and len(current) + len(part) > PASSAGE_CHARACTERS:
                pieces.append(current)
                current = ""
            current = f"{current} {part}".strip()
    return [*pieces, current] if current else pieces
