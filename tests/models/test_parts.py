"""Images and documents, as every hosted adapter sends them."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.provider import FakeProvider
from models.asking import ask, make, prompt
from models.hosted import HOSTED, Hosted
from models.pdfs import LOCKED, pdf
from proctor.domain.errors import RequestRejectedError
from proctor.domain.message import DocumentPart, Image
from proctor.prompts.documents import MAX_KNOWN, pdf_content, read_pdf
from proctor.prompts.files import sniff

IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "image/jpeg": b"\xff\xd8\xff\xe0" + bytes(range(256)),
    "image/webp": b"RIFF\x10\x00\x00\x00WEBPVP8 " + bytes(range(256)),
}
PAPER = pdf(["The capital is Quito", "Second page here"])
BASE64 = re.compile(r"[A-Za-z0-9+/]{20,}={0,2}")


@pytest.fixture(params=HOSTED, ids=lambda hosted: hosted.name)
def hosted(request: pytest.FixtureRequest) -> Hosted:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def server(hosted: Hosted) -> Iterator[FakeProvider]:
    with hosted.server() as running:
        yield running


def blobs(server: FakeProvider) -> list[bytes]:
    """Everything in the last request that is base64, decoded."""
    return [b64decode(found) for found in BASE64.findall(server.requests[-1].body.decode())]


@pytest.mark.parametrize("media_type", IMAGES)
def test_an_image_arrives_byte_by_byte_with_its_true_type(
    hosted: Hosted, server: FakeProvider, media_type: str
) -> None:
    data = IMAGES[media_type]
    assert ask(hosted.model(server), prompt("3 + 4", Image(data, "image/gif"))).text == "ANSWER: 7"
    assert data in blobs(server)
    assert media_type in server.requests[-1].body.decode()
    assert "image/gif" not in server.requests[-1].body.decode()


def test_an_image_is_refused_where_none_is_taken(hosted: Hosted, server: FakeProvider) -> None:
    with pytest.raises(RequestRejectedError, match="takes no images"):
        ask(hosted.model(server, images=False), prompt("What?", Image(IMAGES["image/png"], "image/png")))
    assert server.requests == []


def test_a_document_is_sent_whole_or_as_its_text(hosted: Hosted, server: FakeProvider) -> None:
    asked = prompt("3 + 4", DocumentPart(PAPER, "application/pdf", "paper.pdf"))
    for documents in ("native", "text"):
        ask(hosted.model(server, documents=documents), asked)
        sent = server.requests[-1].body.decode()
        assert (PAPER in blobs(server)) is (documents == "native")
        assert ("The capital is Quito" in sent) is (documents == "text")
        assert ("[Page 2]" in sent) is (documents == "text")
    ask(hosted.model(server), asked)
    assert (PAPER in blobs(server)) is hosted.takes_documents


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Image(b"not an image at all", "image/png"), "must be PNG, JPEG or WebP; its content is nothing known"),
        (Image(b"GIF89a....", "image/png"), "its content is image/gif"),
        (Image(b"", "image/png"), "nothing known"),
        (DocumentPart(b"hello", "application/pdf", "x.pdf"), "'x.pdf' must be a PDF"),
        (DocumentPart(IMAGES["image/png"], "application/pdf", "x.pdf"), "its content is image/png"),
        (DocumentPart(b"%PDF-1.4 and then nonsense", "application/pdf", "x.pdf"), "'x.pdf' is broken"),
        (DocumentPart(PAPER[:200], "application/pdf", "x.pdf"), "'x.pdf'"),
        (DocumentPart(LOCKED, "application/pdf", "x.pdf"), "'x.pdf' needs a password"),
        (Image(IMAGES["image/png"] + bytes(20 * 2**20), "image/png"), "of 20.0 MB is over the limit of 20 MB"),
    ],
    ids=["noise", "gif", "empty", "text", "png-as-pdf", "broken", "cut", "locked", "too-large"],
)
def test_what_cannot_be_used_is_refused_in_words_before_it_is_sent(
    hosted: Hosted, server: FakeProvider, part: Image | DocumentPart, words: str
) -> None:
    with pytest.raises(RequestRejectedError, match=re.escape(words)):
        ask(hosted.model(server), prompt("What?", part))
    assert server.requests == []


def test_title_outline_and_every_page_are_part_of_a_documents_text() -> None:
    text = read_pdf(pdf(["one", "two", "three"], title="On Foxes", outline="Chapter Red"), "foxes.pdf", "m")
    assert text.splitlines()[:3] == ["[Document: foxes.pdf, 3 pages]", "Title: On Foxes", "- Chapter Red"]
    assert [text.index(f"[Page {n}]\n{word}") > 0 for n, word in ((1, "one"), (2, "two"), (3, "three"))] == [True] * 3


def test_what_lies_beyond_the_edge_of_a_page_is_not_read_but_counted() -> None:
    content = pdf_content(pdf(["seen"]).replace(b"Td (seen)", b"Td (seen) Tj 9999 0 Td (hidden)"), "x.pdf", "m")
    assert "hidden" not in content.text
    assert (content.pages, content.unseen_characters >= len("hidden")) == (1, True)
    assert pdf_content(pdf(["seen", "seen"]), "x.pdf", "m").unseen_characters == 0


def test_no_more_than_a_few_documents_are_kept_in_memory() -> None:
    first = pdf_content(pdf(["page 0"]), "x.pdf", "m")
    assert pdf_content(pdf(["page 0"]), "x.pdf", "m") is first
    for number in range(1, MAX_KNOWN + 1):
        read_pdf(pdf([f"page {number}"]), "x.pdf", "m")
    again = pdf_content(pdf(["page 0"]), "x.pdf", "m")
    assert again is not first
    assert again == first


def test_a_document_without_pages_is_refused() -> None:
    with pytest.raises(RequestRejectedError, match=r"x\.pdf"):
        read_pdf(pdf([]), "x.pdf", "m")


def test_a_function_that_reads_text_gets_a_documents_text() -> None:
    response = ask(make("demo/guesser"), prompt("Which?", DocumentPart(PAPER, "application/pdf", "paper.pdf")))
    assert response.usage.input_tokens is not None
    assert response.usage.input_tokens > 10


@given(st.binary(max_size=64))
def test_sniffing_never_fails(data: bytes) -> None:
    assert sniff(data) in (None, "image/png", "image/jpeg", "image/webp", "image/gif", "application/pdf")
