"""Files over the API: told by their content, limited while they stream, and gone when they should be."""

from __future__ import annotations

import io
import socket
import sqlite3
import struct
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from models.pdfs import LOCKED, pdf
from proctor import Client
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.benchmarks.file_content import FileContentError, FileTypeError, inspect
from proctor.domain.errors import NotFoundError
from proctor.domain.scope import Scope
from proctor.runs.storage.files import keep_file
from proctor.server.uploads import MAX_UPLOADS
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.database import open_database
from server.conftest import PLAN
from server.serving import Answer, Server, serving

V1 = "/api/v1"


def image(kind: str, size: tuple[int, int] = (5, 4), **options: object) -> bytes:
    from PIL import Image

    made = io.BytesIO()
    Image.new("RGB", size, (9, 8, 7)).save(made, kind, **options)
    return made.getvalue()


def png_bomb(width: int, height: int) -> bytes:
    """A few bytes that claim to be an image of that size."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"\0" * 9_999)) + part(b"IEND", b"")


def send(server: Server, body: bytes, query: str = "", **headers: str) -> Answer:
    return server.ask("POST", f"{V1}/files{query}", body, **{"Content_Type": "application/octet-stream", **headers})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that takes files of one megabyte, with accounts."""
    folder = tmp_path_factory.mktemp("small")
    with serving(folder / "home", folder, "--accounts", PROCTOR_UPLOAD_MB="1") as found:
        yield found


@pytest.fixture
def key(small: Server) -> Iterator[dict[str, str]]:
    database = open_database(f"sqlite:///{small.home / 'proctor.db'}")
    if "acme" not in {
        row[0] for row in sqlite3.connect(small.home / "proctor.db").execute("SELECT name FROM projects")
    }:
        add_project(database, "acme", by="test")
    made = create_key(database, "acme", ["run:write", "results:read"], by="test")
    yield {"Authorization": f"Bearer {made.text}"}
    database.dispose()


@pytest.mark.parametrize(
    ("content", "kind", "media_type"),
    [
        (image("PNG"), "image", "image/png"),
        (image("JPEG"), "image", "image/jpeg"),
        (image("WEBP"), "image", "image/webp"),
        (image("GIF"), "image", "image/gif"),
        (pdf(["one", "two"]), "pdf", "application/pdf"),
        ("Grüße — <script>alert(1)</script>\n".encode(), "text", "text/plain; charset=utf-8"),
    ],
    ids=["png", "jpeg", "webp", "gif", "pdf", "text"],
)
def test_a_file_is_what_its_content_says_and_comes_back_byte_for_byte(
    server: Server, content: bytes, kind: str, media_type: str
) -> None:
    sent = send(server, content, "?name=page.html")
    assert sent.status == 201, sent.body
    found = sent.json
    assert (found["kind"], found["media_type"], found["size_bytes"]) == (kind, media_type, len(content))
    where = sent.headers["location"]
    assert server.get(where) == found
    answer = server.ask("GET", f"{where}/content")
    assert answer.body == content
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''page.html"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    assert server.ask("GET", f"{where}/content", If_None_Match=answer.headers["etag"]).status == 304
    assert server.ask("DELETE", where).status == 204
    assert server.ask("GET", f"{where}/content").status == 404


def test_the_text_of_a_pdf_is_read_page_by_page(server: Server) -> None:
    client = Client(server.address)
    kept = client.upload(io.BytesIO(pdf(["Ada keeps the key.", "Bela does not."], outline="Keys")), name="keys.pdf")
    assert kept.pages == 2
    text = client.file_text(kept.file_id)
    assert [page.strip() for page in text.pages] == ["Ada keeps the key.", "Bela does not."]
    assert [(entry.title, entry.page) for entry in text.outline] == [("Keys", 1)]
    assert client.file_text(kept.file_id, 2).pages == [text.pages[1]]
    with pytest.raises(NotFoundError, match="no page 3"):
        client.file_text(kept.file_id, 3)
    assert b"".join(client.download(kept.file_id)) == pdf(["Ada keeps the key.", "Bela does not."], outline="Keys")
    assert kept in client.files(kind="pdf").items
    client.delete_file(kept.file_id)
    with pytest.raises(NotFoundError):
        client.file(kept.file_id)


def test_a_part_of_a_file_can_be_had(server: Server) -> None:
    content = b"".join(b"%07d\n" % n for n in range(300_000))
    where = send(server, content).headers["location"] + "/content"
    for asked, start, stop in (
        ("bytes=0-9", 0, 10), ("bytes=1500000-", 1_500_000, len(content)), ("bytes=-8", len(content) - 8, len(content)),
        ("bytes=1048570-1048585", 1_048_570, 1_048_586), ("bytes=2399999-9999999", 2_399_999, len(content)),
    ):  # fmt: skip
        answer = server.ask("GET", where, Range=asked)
        assert (answer.status, answer.body) == (206, content[start:stop]), asked
        assert answer.headers["content-range"] == f"bytes {start}-{stop - 1}/{len(content)}"
    assert server.ask("GET", where, Range="bytes=2400000-").status == 416
    assert server.ask("GET", where, Range="lines=1-2").body == content
    assert server.ask("GET", where, Range="bytes=0-1", If_Range='"other"').status == 200


def test_a_form_is_read_as_it_streams(server: Server) -> None:
    boundary = "x-y-z"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="../../é.txt"\r\n\r\n'.encode()
    kind = f"multipart/form-data; boundary={boundary}"
    answer = send(server, head + b"Hello\r\n--" + boundary.encode() + b"--\r\n", Content_Type=kind)
    assert answer.status == 201, answer.body
    assert answer.json["name"] == "é.txt"
    whole = head + b"Hello\r\n--" + boundary.encode()
    for body, status in (
        (whole, 400), (b"nothing of the kind", 400),
        (whole + head[len(boundary) + 2 :] + b"again\r\n--x-y-z--\r\n", 422),
        (head.replace(b'"file"', b'"other"') + b"x\r\n--x-y-z--\r\n", 422),
    ):  # fmt: skip
        assert send(server, body, Content_Type=kind).status == status, body
    assert send(server, whole, Content_Type="multipart/form-data").status == 400


def test_what_is_not_taken_is_refused_in_words(server: Server) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a.txt", "x")
    for body, status, words in (
        (archive.getvalue(), 415, "application/zip"),
        (b"\x7fELF" + bytes(100), 415, "not taken"),
        (b"caf\xe9 in another encoding", 415, "UTF-8"),
        (b"text with \0 in it", 415, "UTF-8"),
        (LOCKED, 422, "encrypted"),
        (pdf(["whole"])[:60] + b"garbage", 422, "PDF"),
        (b"%PDF-1.7\n%%EOF", 422, "PDF"),
        (image("PNG", (64, 64))[:90], 422, "broken"),
        (png_bomb(100_000, 100_000), 422, "pixels"),
        (b"", 422, "empty"),
    ):
        answer = send(server, body, "?name=thing.pdf")
        assert answer.status == status, (words, answer.body)
        assert words in answer.json["detail"], answer.body
    assert server.ask("POST", f"{V1}/files?name=a%00b", b"x").status == 422
    assert server.ask("POST", f"{V1}/files?nam=a", b"x").status == 422
    assert send(server, b"text", "?run_id=0000000000zz").status == 404


def test_the_limit_is_enforced_while_the_body_streams(small: Server, key: dict[str, str]) -> None:
    body = b"a" * 1_000_001
    assert small.ask("POST", f"{V1}/files", body[:-1], **key).status == 201
    assert small.ask("POST", f"{V1}/files", body, **key).status == 413
    with socket.create_connection(small.place, timeout=60) as endless:
        head = f"POST {V1}/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key['Authorization']}\r\n"
        endless.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        sent = 0
        try:
            while sent < 200_000_000:  # a server that read to the end would never answer
                endless.sendall(b"10000\r\n" + bytes([65]) * 65_536 + b"\r\n")
                sent += 65_536
                endless.settimeout(0.001)
                try:
                    answer = endless.recv(100)
                    break
                except TimeoutError:
                    endless.settimeout(60)
        except OSError:
            endless.settimeout(60)
            answer = endless.recv(100)
        assert answer.startswith(b"HTTP/1.1 413")
        assert sent < 50_000_000


def test_slow_clients_keep_nobody_waiting_and_are_not_too_many(small: Server, key: dict[str, str]) -> None:
    head = f"POST {V1}/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key['Authorization']}\r\n"
    slow = []
    try:
        for _ in range(MAX_UPLOADS + 8):  # some of them are too many themselves
            one = socket.create_connection(small.place, timeout=60)
            slow.append(one)
            one.sendall(f"{head}Content-Length: 900000\r\n\r\nabc".encode())
        until = time.monotonic() + 20
        while (refused := small.ask("POST", f"{V1}/files", b"one more", **key)).status != 429:
            assert time.monotonic() < until, refused.status
        assert int(refused.headers["retry-after"]) > 0
        assert small.ask("GET", f"{V1}/files", **key).status == 200
        database = open_database(f"sqlite:///{small.home / 'proctor.db'}")
        other = create_key(database, "acme", ["run:write"], by="test").text
        database.dispose()
        assert send(small, b"of somebody else", Authorization=f"Bearer {other}").status == 201
    finally:
        for one in slow:
            one.close()
    until = time.monotonic() + 60
    while small.ask("POST", f"{V1}/files", b"room again", **key).status == 429:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_client_that_goes_away_leaves_nothing_behind(small: Server, key: dict[str, str]) -> None:
    def rows() -> int:
        with sqlite3.connect(small.home / "proctor.db") as opened:
            return int(opened.execute("SELECT count(*) FROM files").fetchone()[0])

    def kept() -> set[Path]:
        return {path for path in (small.home / "artifacts").rglob("*") if path.is_file()}

    before = rows(), kept()
    for _ in range(5):
        with socket.create_connection(small.place, timeout=60) as gone:
            head = f"POST {V1}/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key['Authorization']}\r\n"
            gone.sendall(f"{head}Content-Length: 900000\r\n\r\n".encode() + b"x" * 500_000)
    assert small.ask("GET", f"{V1}/files", **key).status == 200
    until = time.monotonic() + 60
    while open_uploads(small.process.pid) and time.monotonic() < until:
        time.sleep(0.1)
    assert open_uploads(small.process.pid) == []
    assert (rows(), kept()) == before


def open_uploads(pid: int) -> list[str]:
    """Files without a name that the process has open."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(link.readlink())
        except FileNotFoundError:
            continue
        if "(deleted)" in target and "/tmp" in target:
            found.append(target)
    return found


def test_a_file_goes_with_its_run(server: Server) -> None:
    run_id = server.run({**PLAN, "name": "with a file", "benchmarks": [{"benchmark": "puzzles", "limit": 1}]})
    kept = send(server, b"evidence of this run", f"?run_id={run_id}").json
    assert kept["runs"] == [run_id]
    where = f"{V1}/files/{kept['file_id']}"
    refused = server.ask("DELETE", where)
    assert (refused.status, run_id in refused.json["detail"]) == (409, True)
    assert server.ask("DELETE", f"{V1}/runs/{run_id}").status == 200
    assert server.ask("GET", where).status == 404


def test_exports_and_reports_have_an_address_that_stays_until_they_expire(server: Server, finished: str) -> None:
    client = Client(server.address)
    for name, kind in (("csv", "export"), ("jsonl", "export"), ("html", "report"), ("md", "report")):
        kept = client.keep_output(finished, name)
        assert (kept.kind, kept.runs) == (kind, [finished])
        path = f"report?format={name}" if kind == "report" else f"export?format={name}"
        now = server.ask("GET", f"{V1}/runs/{finished}/{path}").body
        assert b"".join(client.download(kept.file_id)) == now
        assert kept in client.files(kind=kind).items
        client.delete_file(kept.file_id)  # the run does not need it
    wrong = server.post(f"{V1}/runs/{finished}/files", {"format": "xls"})
    assert wrong.status == 422
    assert server.post(f"{V1}/runs/0000000000zz/files", {"format": "csv"}).status == 404
    kept = client.keep_output(finished)
    with sqlite3.connect(server.home / "proctor.db") as opened:
        opened.execute("UPDATE files SET expires_at = 1 WHERE id = ?", [kept.file_id])
    with pytest.raises(NotFoundError):
        client.file(kept.file_id)
    run_id = server.run({**PLAN, "name": "short", "benchmarks": [{"benchmark": "puzzles", "limit": 1}]})
    kept = client.keep_output(run_id, "json")
    assert server.ask("DELETE", f"{V1}/runs/{run_id}").status == 200
    with pytest.raises(NotFoundError):
        client.file(kept.file_id)


def test_another_project_sees_no_file(small: Server, key: dict[str, str], tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{small.home / 'proctor.db'}")
    artifacts = FolderArtifacts(small.home / "artifacts")
    theirs = keep_file(database.within(Scope("rival")), artifacts, io.BytesIO(b"secret"), "s.txt", "eve", days=1)
    database.dispose()
    for method, path in (("GET", ""), ("GET", "/content"), ("GET", "/text"), ("GET", "/link"), ("DELETE", "")):
        foreign = small.ask(method, f"{V1}/files/{theirs.file_id}{path}", **key)
        unknown = small.ask(method, f"{V1}/files/f-0{path}", **key)
        assert foreign.status == unknown.status == 404
        assert foreign.json["detail"].replace(theirs.file_id, "f-0") == unknown.json["detail"]
    assert theirs.file_id not in str(small.ask("GET", f"{V1}/files", **key).json)
    assert small.ask("GET", f"{V1}/files").status == 401
    assert small.ask("POST", f"{V1}/files", b"text").status == 401


def test_workers_of_a_server_delete_what_has_expired(tmp_path: Path) -> None:
    home = tmp_path / "home"
    database = open_database(f"sqlite:///{home / 'proctor.db'}")
    keep_file(database, FolderArtifacts(home / "artifacts"), io.BytesIO(b"old"), "old", "ann", days=-1)
    database.dispose()
    with serving(home, tmp_path):
        until = time.monotonic() + 60
        while any(path.is_file() for path in (home / "artifacts").rglob("*")):
            assert time.monotonic() < until
            time.sleep(0.1)


def test_work_on_a_file_has_limits() -> None:
    frames = io.BytesIO()
    from PIL import Image

    first, *others = (Image.new("L", (4, 4), n % 250) for n in range(600))
    first.save(frames, "GIF", save_all=True, append_images=others)
    with pytest.raises(FileContentError, match="frames"):
        inspect(io.BytesIO(frames.getvalue()), "many.gif")
    with pytest.raises(FileContentError, match="pages"):
        inspect(io.BytesIO(pdf(["x"] * 2_001)), "long.pdf")
    with pytest.raises(FileTypeError):
        inspect(io.BytesIO(b"BM" + bytes(60)), "a.bmp")
