"""Data from a hub: a real client against a hub on loopback, each in a process of its own, as a user runs it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.hub_server import HubServer, commit_of
from proctor.benchmarks.hub import HubReference, parse_reference
from proctor.domain.errors import BenchmarkError

pytest.importorskip("huggingface_hub")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NOBODY = "http://127.0.0.1:9"
"""Where nobody listens."""


def parquet(*rows: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), buffer)
    return buffer.getvalue()


def question(number: int) -> dict[str, Any]:
    return {"question": f"What is {number} + 1?", "answer": str(number + 1)}


TEST = {
    "main/test-00000-of-00002.parquet": parquet(question(1), question(2)),
    "main/test-00001-of-00002.parquet": parquet(question(3)),
}
TRAIN = {"main/train-00000-of-00001.parquet": parquet(question(10), question(11))}
REPOSITORIES = {"org/sums": {"main": {"README.md": b"# sums", **TEST, **TRAIN}}}


class Here:
    """A folder with a benchmark file, a hub's cache, and the command line in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def check(self, source: str, hub: HubServer | str, *, code: int = 0, **environment: str) -> Any:
        fields = {"input": "question", "target": "answer"}
        values = {"name": "sums", "dataset": {"source": source, "fields": fields}, "scorers": ["numeric"]}
        (self.folder / "sums.yaml").write_text(yaml.safe_dump(values))
        done = self._proctor("benchmarks", "check", "sums.yaml", "--json", hub=hub, environment=environment)
        assert done.returncode == code, done.stdout + done.stderr
        if code == 0:
            return json.loads(done.stdout)
        assert "Traceback" not in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        return " ".join(done.stderr.split())

    def document(self, *words: str, hub: HubServer | str, **environment: str) -> Any:
        """What a command that ends well prints as JSON."""
        done = self._proctor(*words, "--json", hub=hub, environment=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def _proctor(
        self, *words: str, hub: HubServer | str, environment: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        settings = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PROCTOR_"))},
            "HF_HOME": str(self.folder / "cache"),
            "HF_ENDPOINT": hub if isinstance(hub, str) else hub.url,
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "PROCTOR_HOME": str(self.folder / "home"),
            **environment,
        }
        return subprocess.run(
            [sys.executable, "-m", "proctor", *words],
            cwd=self.folder, env=settings, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Here:
    return Here(tmp_path)


def test_a_split_is_read_from_its_parquet_files_and_then_from_the_cache(here: Here) -> None:
    with HubServer(REPOSITORIES) as hub:
        document = here.check("hf://org/sums/main?split=test", hub)
        assert document["samples"] == 3
        assert document["first_target"] == ["2"]
        downloads = [line for line in hub.asked if line.startswith("GET /datasets")]
        assert len(downloads) == 2, "the train split and the other files are left alone"
        hub.asked.clear()
        again = here.check("hf://org/sums/main?split=test", hub)
        assert again["digest"] == document["digest"]
        assert not [line for line in hub.asked if line.startswith("GET /datasets")]
    assert here.check("hf://org/sums/main?split=test", NOBODY)["digest"] == document["digest"]
    assert here.check("hf://org/sums/main?split=test", NOBODY, HF_HUB_OFFLINE="1")["digest"] == document["digest"]


def test_splits_are_read_one_after_the_other_and_a_revision_is_pinned(here: Here) -> None:
    newer = {"main/test-00000-of-00001.parquet": parquet(question(7))}
    repositories = {"org/sums": {"main": REPOSITORIES["org/sums"]["main"], "v2": newer}}
    with HubServer(repositories) as hub:
        assert here.check("hf://org/sums/main?split=train+test", hub)["samples"] == 5
        assert here.check("hf://org/sums/main?split=test&revision=v2", hub)["first_target"] == ["8"]
        pinned = f"hf://org/sums/main?split=test&revision={commit_of('v2')}"
        assert here.check(pinned, hub)["first_target"] == ["8"]
        message = here.check("hf://org/sums/main?split=test&revision=v3", hub, code=2)
    assert "the hub has no revision 'v3'" in message


def test_the_branch_of_converted_files_is_tried_and_all_configs_can_be_read(here: Here) -> None:
    converted = {"b/test/0000.parquet": parquet(question(5)), "a/test/0000.parquet": parquet(question(4))}
    repositories = {"org/sums": {"main": {"sums.py": b"script"}, "refs/convert/parquet": converted}}
    with HubServer(repositories) as hub:
        assert here.check("hf://org/sums/b?split=test", hub)["first_target"] == ["6"]
        everything = here.check("hf://org/sums/*?split=test", hub)
        assert everything["samples"] == 2
        assert everything["first_target"] == ["5"]


def test_one_file_of_a_repository_can_be_named(here: Here) -> None:
    with HubServer({"org/sums": {"main": {"data/x.jsonl": json.dumps(question(8)).encode()}}}) as hub:
        assert here.check("hf://org/sums?file=data/x.jsonl", hub)["first_target"] == ["9"]
        assert "no gone.jsonl" in here.check("hf://org/sums?file=gone.jsonl", hub, code=2)


def test_a_token_is_sent_and_a_refusal_says_where_it_comes_from(here: Here) -> None:
    with HubServer(REPOSITORIES, token="hf_secret") as hub:
        message = here.check("hf://org/sums/main", hub, code=2)
        assert "(401)" in message
        assert "HF_TOKEN" in message
        assert "put sums.jsonl into a folder" in message
        assert "PROCTOR_DATA" in message
        assert here.check("hf://org/sums/main", hub, HF_TOKEN="hf_secret")["samples"] == 3


def test_what_is_not_there_is_named(here: Here) -> None:
    with HubServer(REPOSITORIES) as hub:
        assert "no such data set" in here.check("hf://org/summs/main", hub, code=2)
        message = here.check("hf://org/sums/main?split=validation", hub, code=2)
    assert "no Parquet file of the split 'validation'" in message


def test_a_download_that_ends_early_is_no_data(here: Here) -> None:
    with HubServer(REPOSITORIES, cut=frozenset({"main/test-00001-of-00002.parquet"})) as hub:
        message = here.check("hf://org/sums/main", hub, code=2)
        assert "the download failed" in message
        assert "size" in message
    # What did arrive is only a part: offline, it must not be taken for the whole.
    message = here.check("hf://org/sums/main", NOBODY, code=2, HF_HUB_OFFLINE="1")
    assert "not wholly in the hub's cache" in message


def test_without_hub_and_cache_the_user_learns_what_to_do(here: Here) -> None:
    message = here.check("hf://org/sums/main", NOBODY, code=2)
    assert f"the hub at {NOBODY} cannot be reached" in message
    assert "put sums.jsonl into a folder, and name the folder with --data or PROCTOR_DATA" in message
    message = here.check("hf://org/sums/main", NOBODY, code=2, HF_HUB_OFFLINE="1")
    assert "offline (HF_HUB_OFFLINE)" in message
    data = here.folder / "data"
    data.mkdir()
    message = here.check("hf://org/sums/main", NOBODY, code=2, PROCTOR_DATA=str(data))
    assert f"The folder {data} has no sums.jsonl either" in message
    (data / "sums.jsonl").write_text(json.dumps(question(1)))
    assert here.check("hf://org/sums/main", NOBODY, PROCTOR_DATA=str(data))["samples"] == 1


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("sums", "names no data set"),
        ("a/b/c/d", "names no data set"),
        ("a//c", "names no data set"),
        ("org/sums?spilt=test", r"no option 'spilt'\. Did you mean 'split'"),
    ],
)
def test_addresses_that_are_not_understood_are_refused(location: str, message: str) -> None:
    with pytest.raises(BenchmarkError, match=message):
        parse_reference(location)


def test_an_address_says_what_it_takes() -> None:
    found = parse_reference("org/name/conf?split=a+b&revision=v1")
    assert found == HubReference("org/name", "conf", ("a", "b"), "v1", None, None)
    assert "conf/a-*.parquet" in found.patterns
    assert parse_reference("org/name").splits == ("test",)


def test_a_run_keeps_the_commit_it_read_and_is_resumed_with_it_after_the_branch_has_moved(here: Here) -> None:
    newer = {**TRAIN, "main/test-00000-of-00001.parquet": parquet(question(7))}
    repositories = {"org/sums": {"main": REPOSITORIES["org/sums"]["main"], "v2": newer}}
    source = "hf://org/sums/main?split=test"
    examples = "hf://org/sums/main?split=train"
    run = ("run", "sums.yaml", "-m", "demo/average")
    with HubServer(repositories) as hub:
        here.check(source, hub)
        values = yaml.safe_load((here.folder / "sums.yaml").read_text())
        values["dataset"]["examples"] = {"source": examples}
        (here.folder / "sums.yaml").write_text(yaml.safe_dump({**values, "shots": 1}))
        (first,) = here.document(*run, hub=hub)["evaluations"]
        assert first["revisions"] == {source: commit_of("main"), examples: commit_of("main")}
        hub.moved["main"] = "v2"
        (again,) = here.document("resume", "latest", hub=hub)["evaluations"]
        assert (again["samples"], again["revisions"]) == (3, first["revisions"])
        (moved,) = here.document(*run, hub=hub)["evaluations"]
        assert (moved["samples"], moved["revisions"][source]) == (1, commit_of("v2"))
        run_id = here.document("runs", hub=hub)[-1]["run_id"]
    (offline,) = here.document("resume", run_id, "--offline", hub=NOBODY)["evaluations"]
    assert (offline["samples"], offline["digest"]) == (3, first["digest"])


def test_a_plan_can_name_the_commit_of_a_source(here: Here) -> None:
    newer = {"main/test-00000-of-00001.parquet": parquet(question(7))}
    source = "hf://org/sums/main?split=test"
    with HubServer({"org/sums": {"main": newer, "v2": REPOSITORIES["org/sums"]["main"]}}) as hub:
        assert here.check(source, hub)["samples"] == 1
        pinned = {"benchmark": "sums.yaml", "revisions": {source: commit_of("v2")}}
        (here.folder / "plan.yaml").write_text(yaml.safe_dump({"models": ["demo/average"], "benchmarks": [pinned]}))
        (done,) = here.document("run", "plan.yaml", hub=hub)["evaluations"]
    assert (done["samples"], done["revisions"]) == (3, {source: commit_of("v2")})
