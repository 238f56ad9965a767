"""What every store of artifacts promises: a folder, a bucket, and a bucket with a folder for what it cannot take."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.s3_server import S3Server
from proctor.domain.artifacts import Artifacts, key_of, path_of
from proctor.domain.errors import DamagedArtifactError, NotFoundError
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.artifacts.opening import open_artifacts
from proctor.stores.artifacts.s3_location import read_s3_location

LARGE = 20 * 1024 * 1024 + 7
"""More than two parts of an upload."""
ABSENT = key_of(b"never kept")


@dataclass(frozen=True)
class Kind:
    store: Artifacts
    overwrite: Callable[[str, bytes], object]
    """Damages a body, past the store."""


@pytest.fixture(params=["folder", "s3", "buffered"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    if request.param == "folder":
        folder = FolderArtifacts(tmp_path / "artifacts")
        return Kind(folder, lambda key, content: folder.path_of(key).write_bytes(content))
    server: S3Server = request.getfixturevalue("s3")
    prefix: str = request.getfixturevalue("prefix")

    def overwrite(key: str, content: bytes) -> object:
        return server.bucket().put(f"{prefix}/{path_of(key)}", content)

    url = server.url(prefix)
    if request.param == "buffered":
        return Kind(open_artifacts(url, tmp_path / "waiting", os.environ), overwrite)
    from proctor.stores.artifacts.s3 import S3Artifacts

    return Kind(S3Artifacts(read_s3_location(url, os.environ), os.environ), overwrite)


@pytest.fixture
def store(kind: Kind) -> Artifacts:
    return kind.store


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=3_000), st.integers(1, 900))
def test_a_body_comes_back_as_it_was_kept(store: Artifacts, content: bytes, step: int) -> None:
    key = store.put("a", content)
    assert key == key_of(content) == store.put("a", _in_chunks(content, step))
    assert store.get(key) == content == b"".join(store.chunks(key))
    assert (store.size(key), store.exists(key)) == (len(content), True)


def _in_chunks(content: bytes, step: int) -> Iterator[bytes]:
    return (content[at : at + step] for at in range(0, len(content), step))


def test_a_large_body_comes_and_goes_in_parts(store: Artifacts) -> None:
    content = os.urandom(LARGE)
    key = store.put("large", _in_chunks(content, 300_000))
    assert (key, store.size(key)) == (key_of(content), LARGE)
    parts = list(store.chunks(key))
    assert b"".join(parts) == content
    assert max(map(len, parts)) < LARGE
    assert store.put("again", content) == key
    assert list(store.keys()) == [key]


def test_equal_bodies_are_kept_once(store: Artifacts) -> None:
    assert store.put("a", b"same") == store.put("b", b"same")
    assert list(store.keys()) == [key_of(b"same")]


def test_what_is_not_there_is_said(store: Artifacts) -> None:
    with pytest.raises(NotFoundError, match=f"There is no artifact {ABSENT}"):
        store.get(ABSENT)
    assert (store.size(ABSENT), store.exists(ABSENT), store.delete(ABSENT)) == (None, False, None)
    assert list(store.keys()) == []


@pytest.mark.parametrize(
    "key",
    ["", "../../etc/passwd", "a" * 39, "A" * 40, "a" * 40 + "\n", "a" * 41, "..%2f" * 8, "é" * 40, "aa/" + "b" * 38],
)
def test_a_key_cannot_be_a_path(store: Artifacts, key: str) -> None:
    for ask in (store.get, store.chunks, store.size, store.exists, store.delete, _linked(store)):
        with pytest.raises(NotFoundError, match="is not the key of an artifact"):
            ask(key)


def _linked(store: Artifacts) -> Callable[[str], str]:
    return lambda key: store.link(key, seconds=60)


@pytest.mark.parametrize("forged", [b"forged", b"longer than it was", b""])
def test_a_damaged_body_is_not_passed_off_as_what_was_kept(kind: Kind, forged: bytes) -> None:
    key = kind.store.put("log", b"genius")
    kind.overwrite(key, forged)
    with pytest.raises(DamagedArtifactError, match=f"{key} is damaged"):
        kind.store.get(key)


def test_a_large_damaged_body_is_found_out_before_its_last_part(kind: Kind) -> None:
    content = bytes(LARGE)
    key = kind.store.put("log", content)
    kind.overwrite(key, content[:-1] + b"\1")
    given_out: list[int] = []
    with pytest.raises(DamagedArtifactError, match="is damaged"):
        given_out.extend(len(part) for part in kind.store.chunks(key))
    assert 0 < sum(given_out) < LARGE


@pytest.mark.parametrize("size", [6, LARGE])
def test_keeping_it_again_does_not_write_over_what_is_there(kind: Kind, size: int) -> None:
    key = kind.store.put("log", bytes(size))
    kind.overwrite(key, b"!" * size)
    assert kind.store.put("log", bytes(size)) == key == kind.store.put("log", _in_chunks(bytes(size), 100_000))
    with pytest.raises(DamagedArtifactError):
        kind.store.get(key)


def test_deleting_gives_the_size_and_leaves_others(store: Artifacts) -> None:
    own, other = store.put("a", b"12345"), store.put("b", b"other")
    assert store.delete(own) == 5
    assert (store.exists(own), store.delete(own)) == (False, None)
    assert store.get(other) == b"other"


def test_every_key_is_listed_once_and_nothing_else(store: Artifacts) -> None:
    kept = {store.put(str(number), f"body {number}".encode()) for number in range(60)}
    listed = list(store.keys())
    assert sorted(listed) == sorted(kept)


def test_writers_at_once_leave_one_whole_body(store: Artifacts) -> None:
    content, gave = b"x" * 500_000, []
    threads = [threading.Thread(target=lambda: gave.append(store.put("a", content))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gave == [key_of(content)] * 8
    assert store.get(gave[0]) == content
    assert list(store.keys()) == [gave[0]]


def test_a_body_whose_source_fails_is_not_kept(store: Artifacts) -> None:
    def failing() -> Iterator[bytes]:
        yield from repeat(b"half", 3)
        raise RuntimeError("the source ended")

    with pytest.raises(RuntimeError, match="the source ended"):
        store.put("a", failing())
    assert list(store.keys()) == []


def test_a_check_leaves_nothing(store: Artifacts) -> None:
    store.check()
    assert list(store.keys()) == []
    assert store.delayed() is None
