"""A bucket: who may use it, what is said when it cannot be used, encryption, links and lists."""

from __future__ import annotations

import os
import socket
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest

from fakes.authority import Authority
from fakes.s3_server import (
    BUCKET,
    FORBIDDEN,
    KEY,
    MISSING,
    OWNER,
    OWNER_SECRET,
    READER,
    READER_SECRET,
    SECRET,
    WRITER,
    WRITER_SECRET,
    S3Server,
)
from proctor.domain.artifacts import key_of, path_of
from proctor.domain.errors import NotFoundError, StoreError, UserError
from proctor.offline import confined
from proctor.stores.artifacts.s3_location import read_s3_location

obstore = pytest.importorskip("obstore", reason="obstore is not installed: pip install 'proctor[s3]'")
from proctor.stores.artifacts import s3_bucket  # noqa: E402
from proctor.stores.artifacts.s3 import S3Artifacts  # noqa: E402

OUTSIDE = "s3://bucket?endpoint=https://s3.example.org"


def opened(url: str, *, is_offline: bool = False) -> S3Artifacts:
    return S3Artifacts(read_s3_location(url, os.environ), os.environ, is_offline=is_offline)


@pytest.mark.parametrize(
    ("bucket", "key", "secret", "said"),
    [
        (BUCKET, KEY, "wrong-secret", "AWS_SECRET_ACCESS_KEY is not the secret of the key in AWS_ACCESS_KEY_ID"),
        (BUCKET, "nobody", SECRET, "does not know the key in AWS_ACCESS_KEY_ID"),
        (BUCKET, READER, READER_SECRET, f"key in AWS_ACCESS_KEY_ID has no right to write to the bucket '{BUCKET}'."),
        (BUCKET, WRITER, WRITER_SECRET, f"has no right to read from the bucket '{BUCKET}', or there is no such bucket"),
        (
            MISSING,
            KEY,
            SECRET,
            f"there is no bucket '{MISSING}' among those that the key in AWS_ACCESS_KEY_ID may list",
        ),
        (MISSING, KEY, SECRET, f" ({BUCKET}). Check PROCTOR_ARTIFACTS_URL, or give the key the right to write to it."),
        (FORBIDDEN, KEY, SECRET, f"there is no bucket '{FORBIDDEN}' among those that the key"),
        (MISSING, OWNER, OWNER_SECRET, f"there is no bucket '{MISSING}' at http://127.0.0.1:"),
    ],
)
def test_who_may_not_use_the_bucket_is_told_why_in_one_line(
    s3: S3Server, prefix: str, monkeypatch: pytest.MonkeyPatch, bucket: str, key: str, secret: str, said: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    with pytest.raises(StoreError) as refused:
        opened(s3.url(prefix, bucket=bucket)).check()
    text = str(refused.value)
    assert said in text
    assert "\n" not in text
    assert secret not in text


@pytest.mark.parametrize(("bucket", "key", "secret"), [(MISSING, OWNER, OWNER_SECRET), (BUCKET, KEY, "wrong-secret")])
def test_a_bucket_that_cannot_be_used_is_not_an_empty_one(
    s3: S3Server, prefix: str, monkeypatch: pytest.MonkeyPatch, bucket: str, key: str, secret: str
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    store, absent = opened(s3.url(prefix, bucket=bucket)), key_of(b"never kept")
    for ask in (store.get, store.size, store.exists, store.delete, lambda _: list(store.keys())):
        with pytest.raises(StoreError, match=r"there is no bucket|is not the secret"):
            ask(absent)


def test_a_server_that_is_not_there_is_said(s3: S3Server) -> None:
    store = opened("s3://bucket?endpoint=http://127.0.0.1:1")
    with pytest.raises(StoreError, match=r"http://127\.0\.0\.1:1 cannot be reached, also when it was tried again"):
        store.check()


def test_a_server_that_says_nothing_is_given_up(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(s3_bucket, "ANSWER_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"s3://bucket?endpoint=http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(StoreError, match="does not answer in time"):
            opened(url).put("a", b"a body")


def test_without_keys_it_is_said_which_variables_hold_them(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(StoreError, match="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"):
        opened(s3.url("x")).check()


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_half_of_the_keys_are_none(s3: S3Server, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "")
    with pytest.raises(UserError, match=f"{name} is not set"):
        opened(s3.url("x"))


def test_a_certificate_is_trusted_where_its_authority_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    authority = Authority(tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        server.socket = authority.serving().wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"s3://bucket?endpoint=https://127.0.0.1:{server.server_port}"
            with pytest.raises(StoreError, match=r"is not trusted\. SSL_CERT_FILE names"):
                opened(url).put("a", b"a body")
            monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
            with pytest.raises(StoreError, match="has no right to write to"):
                opened(url).put("a", b"a body")
        finally:
            server.shutdown()
            thread.join()
    monkeypatch.setenv("SSL_CERT_FILE", "missing.pem")
    with pytest.raises(UserError, match=r"SSL_CERT_FILE cannot be read: No such file or directory: missing\.pem"):
        opened(url)


def test_bodies_lie_below_the_prefix(s3: S3Server, prefix: str) -> None:
    key = opened(s3.url(prefix)).put("a", b"a body")
    assert s3.bucket().get(f"{prefix}/{path_of(key)}").bytes().to_bytes() == b"a body"
    assert not opened(s3.url(f"{prefix}x")).exists(key)
    assert opened(s3.url(prefix.rpartition("/")[0])).size(key) is None


def test_what_others_keep_there_is_not_listed(s3: S3Server, prefix: str) -> None:
    store = opened(s3.url(prefix))
    key = store.put("a", b"a body")
    for name in ("README", f"{key[:2]}/{key[2:]}.txt", f"{key[:1]}/{key[1:]}", f"deep/{path_of(key)}"):
        s3.bucket().put(f"{prefix}/{name}", b"of others")
    assert list(store.keys()) == [key]


def test_a_list_is_read_page_by_page(s3: S3Server, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.stores.artifacts.s3.PAGE", 3)
    store = opened(s3.url(prefix))
    kept = {store.put("a", bytes([number])) for number in range(8)}
    listing = store.keys()
    assert next(listing) in kept
    assert len(list(listing)) == 7


def test_a_body_is_encrypted_where_that_is_asked_for(s3: S3Server, prefix: str) -> None:
    store = opened(s3.url(prefix, options="&encryption=AES256"))
    small, large = store.put("small", b"a body"), store.put("large", bytes(s3_bucket.PART_BYTES + 1))
    assert store.get(small) == b"a body"
    assert store.get(large) == bytes(s3_bucket.PART_BYTES + 1)
    plain = opened(s3.url(prefix)).put("plain", b"another")
    said = {key: _headers(opened(s3.url(prefix)).link(key, seconds=60)) for key in (small, large, plain)}
    assert [said[key].get("x-amz-server-side-encryption") for key in (small, large, plain)] == [
        "AES256",
        "AES256",
        None,
    ]


def _headers(link: str) -> dict[str, str]:
    with _open(link) as answer:
        return {name.lower(): value for name, value in answer.headers.items()}


def _open(link: str):  # type: ignore[no-untyped-def]
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(link, timeout=30)


def test_a_link_downloads_one_body_without_keys_and_cannot_be_changed(s3: S3Server, prefix: str) -> None:
    store = opened(s3.url(prefix))
    key, other = store.put("a", b"a body"), store.put("b", b"another")
    link = store.link(key, seconds=60)
    assert SECRET not in link
    assert "X-Amz-Expires=60" in link
    with _open(link) as answer:
        assert answer.read() == b"a body"
    for forged in (link.replace(path_of(key), path_of(other)), urlsplit(link)._replace(query="").geturl()):
        with pytest.raises(HTTPError, match="403"):
            _open(forged)


@pytest.mark.parametrize("seconds", [0, -1, 7 * 24 * 3600 + 1])
def test_a_link_holds_for_at_most_a_week(s3: S3Server, prefix: str, seconds: int) -> None:
    store = opened(s3.url(prefix))
    with pytest.raises(UserError, match="holds for 1 to 604800 seconds"):
        store.link(store.put("a", b"a body"), seconds=seconds)


def test_there_is_no_link_to_what_is_not_there(s3: S3Server, prefix: str) -> None:
    with pytest.raises(NotFoundError, match="There is no artifact"):
        opened(s3.url(prefix)).link(key_of(b"never kept"), seconds=60)


def test_offline_nothing_beyond_this_machine_is_connected_to(
    s3: S3Server, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in (OUTSIDE, "s3://bucket"):
        with pytest.raises(UserError, match="nothing beyond this machine may be connected to"):
            opened(url, is_offline=True).exists(key_of(b""))
        with confined(), pytest.raises(UserError, match="nothing beyond this machine may be connected to"):
            opened(url).exists(key_of(b""))
    opened(s3.url(prefix), is_offline=True).check()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(UserError, match="no role of this machine is asked for"):
        opened(s3.url(prefix), is_offline=True).check()


def test_keys_are_not_shown(s3: S3Server, prefix: str) -> None:
    store = opened(s3.url(prefix))
    assert not any(word in f"{store!r} {store.location} {vars(store)}" for word in (KEY + "'", SECRET))
