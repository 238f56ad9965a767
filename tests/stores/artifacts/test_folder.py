"""What only a folder does."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.domain.artifacts import key_of
from proctor.domain.errors import StoreError, UserError
from proctor.stores.artifacts.folder import FolderArtifacts


def test_a_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    store = FolderArtifacts(tmp_path / "file")
    for ask in (lambda: store.put("x", b"x"), lambda: store.put("x", iter([b"x"])), store.check):
        with pytest.raises(
            StoreError, match=r"Proctor cannot .* Set PROCTOR_ARTIFACTS_URL to a place that can be used"
        ):
            ask()


def test_a_folder_has_no_links_and_says_so(tmp_path: Path) -> None:
    store = FolderArtifacts(tmp_path)
    with pytest.raises(UserError, match="has no download links"):
        store.link(store.put("x", b"x"), seconds=60)


def test_looking_makes_no_folder(tmp_path: Path) -> None:
    store = FolderArtifacts(tmp_path / "artifacts")
    assert (store.exists(key_of(b"")), list(store.keys()), store.delete(key_of(b""))) == (False, [], None)
    assert not store.folder.exists()


def test_a_writer_that_was_killed_leaves_nothing_that_is_listed(tmp_path: Path) -> None:
    store = FolderArtifacts(tmp_path)
    key = store.put("x", b"x")
    (tmp_path / ".new-abc").write_bytes(b"half")
    (tmp_path / key[:2] / ".new-abc").write_bytes(b"half, by version 0.1")
    assert list(store.keys()) == [key]
