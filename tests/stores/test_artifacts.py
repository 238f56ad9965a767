"""Bodies kept by the hash of their content."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor.domain.errors import NotFoundError, StoreError
from proctor.stores.artifacts import FileArtifacts, key_of


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=3_000))
def test_a_body_comes_back_as_it_was_kept(tmp_path: Path, content: bytes) -> None:
    store = FileArtifacts(tmp_path / "artifacts")
    key = store.put("a", content)
    assert key == key_of(content)
    assert store.get(key) == content
    with store.open(key) as file:
        assert file.read() == content


def test_equal_bodies_are_one_file(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    assert store.put("a", b"same") == store.put("b", b"same")
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    with pytest.raises(NotFoundError, match="There is no artifact"):
        store.get(key_of(b"never kept"))


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "a" * 39, "A" * 40, "a" * 40 + "\n"])
def test_a_key_cannot_be_a_path(tmp_path: Path, key: str) -> None:
    with pytest.raises(NotFoundError, match="is not the key of an artifact"):
        FileArtifacts(tmp_path).get(key)


def test_a_damaged_body_is_not_passed_off_as_what_was_kept(tmp_path: Path) -> None:
    store = FileArtifacts(tmp_path)
    key = store.put("log", b"evidence")
    store.path_of(key).write_bytes(b"forged")
    with pytest.raises(StoreError, match="damaged"):
        store.get(key)


def test_writers_at_once_leave_one_whole_body_and_nothing_else(tmp_path: Path) -> None:
    store, content = FileArtifacts(tmp_path), b"x" * 500_000
    threads = [threading.Thread(target=store.put, args=("a", content)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get(key_of(content)) == content
    assert [path.name for path in tmp_path.rglob("*") if path.name.startswith(".new")] == []


def test_a_folder_that_cannot_be_written_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be kept"):
        FileArtifacts(tmp_path / "file").put("x", b"x")
