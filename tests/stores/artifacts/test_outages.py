"""S3 goes down: what is kept meanwhile waits on this machine, is found there, and is sent when it is up again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import proctor
from commands import Cli
from fakes.s3_server import S3Server
from proctor.domain.artifacts import key_of, path_of
from proctor.domain.errors import StoreError
from proctor.stores.artifacts import buffered
from proctor.stores.artifacts.opening import open_artifacts

PROGRAM = """
def answer(prompt):
    import pathlib, {module}
    {module}.SERVER.stop()
    return "```python main.py\\n" + pathlib.Path({path!r}).read_text() + "```\\n"
"""
SERVER: S3Server | None = None
"""For the model in PROGRAM, which stops it between the question and the marks."""
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def artifacts_finding(cli: Cli) -> dict[str, Any]:
    (found,) = [one for one in cli("doctor", "--json").json if one["name"] == "artifacts"]
    return {"state": found["state"], "detail": found["detail"]}


def test_what_cannot_be_sent_waits_and_is_found(s3: S3Server, prefix: str, waiting: Path) -> None:
    store = open_artifacts(s3.url(prefix), waiting, os.environ)
    early = store.put("early", b"before")
    with s3.stopped():
        late = [store.put("late", b"during"), store.put("late", iter([b"in ", b"chunks"]))]
        assert [store.get(key) for key in late] == [b"during", b"in chunks"]
        assert [store.size(key) for key in late] == [6, 9]
        delayed = store.delayed() or ""
        assert delayed.startswith(f"2 artifacts wait in {waiting} to be sent to s3://kept/{prefix}; 'proctor doctor'")
        assert f"{s3.endpoint} cannot be reached" in delayed
        with pytest.raises(StoreError, match="cannot be reached"):
            store.get(early)
        with pytest.raises(StoreError, match="cannot be reached"):
            store.check()
    assert sorted(store.keys()) == sorted([early, *late])
    store.check()
    assert store.delayed() is None
    assert [path for path in waiting.rglob("*") if path.is_file()] == []
    assert s3.bucket().get(f"{prefix}/{path_of(late[1])}").bytes().to_bytes() == b"in chunks"


def test_a_store_that_failed_is_not_waited_for_again_at_once(
    s3: S3Server, prefix: str, waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Down:
        def put(self, name: str, content: object) -> str:
            asked.append(name)
            raise StoreError("down")

    clock = [1000.0]
    monkeypatch.setattr(buffered.time, "monotonic", lambda: clock[0])
    store = buffered.BufferedArtifacts("s3://x", Down, buffered.FolderArtifacts(waiting))  # type: ignore[arg-type]
    for name in "abc":
        store.put(name, name.encode())
    assert asked == ["a"]
    clock[0] += buffered.PAUSE_SECONDS
    store.put("d", b"d")
    assert asked == ["a", "d"]


def test_the_next_that_gets_through_takes_along_what_waits(s3: S3Server, prefix: str, waiting: Path) -> None:
    waited = buffered.FolderArtifacts(waiting).put("left by another process", b"waits")
    store = open_artifacts(s3.url(prefix), waiting, os.environ)
    store.put("a", b"gets through")
    assert store.delayed() is None
    assert s3.bucket().get(f"{prefix}/{path_of(waited)}").bytes().to_bytes() == b"waits"


def test_what_another_process_has_sent_meanwhile_is_no_fault(tmp_path: Path, waiting: Path) -> None:
    class Raced(buffered.FolderArtifacts):
        """Lists a body that is gone when it is looked for."""

        def keys(self) -> Iterator[str]:
            yield key_of(b"sent by another process")
            yield from super().keys()

    stored = buffered.FolderArtifacts(tmp_path / "stored")
    store = buffered.BufferedArtifacts("s3://x", lambda: stored, Raced(waiting))
    waited = buffered.FolderArtifacts(waiting).put("", b"waits")
    key = store.put("a", b"gets through")
    store.check()
    assert sorted(stored.keys()) == sorted([key, waited])


def test_a_body_that_waits_is_deleted_and_linked_to_like_any_other(s3: S3Server, prefix: str, waiting: Path) -> None:
    kept = buffered.FolderArtifacts(waiting)
    first, second = kept.put("", b"first"), kept.put("", b"second")
    store = open_artifacts(s3.url(prefix), waiting, os.environ)
    assert (store.delete(first), store.exists(first)) == (5, False)
    assert path_of(second) in store.link(second, seconds=60)
    assert store.delayed() is None


def test_a_damaged_object_does_not_keep_others_from_being_sent(s3: S3Server, prefix: str, waiting: Path) -> None:
    good = b"what was kept"
    s3.bucket().put(f"{prefix}/{path_of(key_of(good))}", b"damaged")
    store = open_artifacts(s3.url(prefix), waiting, os.environ)
    key, other = store.put("good", good), store.put("other", b"other")
    assert store.get(key) == good  # from the folder
    assert s3.bucket().get(f"{prefix}/{path_of(other)}").bytes().to_bytes() == b"other"
    store.check()
    assert f"The artifact {key} is damaged" in (store.delayed() or "")


@needs_bubblewrap
def test_a_program_keeps_its_marks_and_its_files_when_s3_goes_down_before_it_is_marked(
    s3: S3Server, prefix: str, cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_ARTIFACTS_URL", s3.url(prefix))
    monkeypatch.setattr(f"{__name__}.SERVER", s3)
    assert cli("problems", "new", "mine/add-up").code == 0
    path = Path("mine/add-up/solution/main.py").absolute()
    Path("stopping_model.py").write_text(PROGRAM.format(module=__name__, path=str(path)))
    try:
        ran = cli("run", "requirements?problems=mine&measure=false", "-m", "python/stopping_model:answer", "--json")
        (evaluation,) = ran.json["evaluations"]
        assert (ran.code, ran.json["status"], evaluation["scored"], evaluation["failed"]) == (0, "completed", 1, 0)
        assert "to be sent to s3://kept/" in ran.err
        card = cli("problems", "card", "latest", "add-up", "-f", "json").json
        assert card["program"]["main.py"]["text"] == path.read_text()
        assert artifacts_finding(cli)["state"] == "problem"
        kept = cli("delete", "latest", "-y")
        assert (kept.code, "cannot be reached" in kept.error) == (1, True)
        assert cli("problems", "card", "latest", "add-up", "-f", "json").json == card
        again = cli("run", "requirements?problems=mine&measure=false", "-m", "demo/strong")
        assert (again.code, "cannot be reached" in again.err, "Traceback" in again.err) == (1, True, False)
    finally:
        s3.start()
    found = artifacts_finding(cli)
    assert found["state"] == "ok", found
    assert cli("problems", "card", "latest", "add-up", "-f", "json").code == 2  # of the run that was refused
    run = proctor.open_run(ran.json["run_id"])
    assert cli("problems", "card", run.id, "add-up", "-f", "json").json == card
    deleted = cli("delete", run.id, "-y", "--json").json["deleted"]
    assert deleted["artifacts"] >= 1
    assert list(open_artifacts(s3.url(prefix), home / "artifacts-waiting", os.environ).keys()) == []
