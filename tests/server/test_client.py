"""Commands and programs against a server: the same output as on this machine's own results."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from commands import ended
from proctor import Client
from proctor.client.runs import LAST
from proctor.domain.errors import NotFoundError, RunError, StoreError, UserError
from server.conftest import PLAN
from server.serving import Server


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "{run}"),
        ("show", "{run}", "--json"),
        ("runs", "--name", "first"),
        ("runs", "--model", "demo/weak", "--json", "-n", "1"),
        ("samples", "{run}", "--wrong", "-n", "2"),
        ("samples", "{run}", "--model", "demo/weak", "--json"),
        ("compare", "{run}", "--flips", "2"),
        ("compare", "{run}", "-f", "json"),
        ("export", "{run}", "-f", "csv"),
        ("export", "{run}", "--with", "prompt,tags"),
        ("show", "zzz"),
        ("compare", "{run}", "--model", "demo/wek"),
    ],
)
def test_commands_print_the_same_with_a_server(
    server: Server, finished: str, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    given = [part.format(run=finished) for part in arguments]
    code, said, errors = ended(tmp_path / "empty", tmp_path, *given, "--server", server.address)
    own_code, own, own_errors = server.cli(*given)
    assert (code, errors) == (own_code, own_errors)
    assert orjson.loads(said) == orjson.loads(own) if "--json" in given else said == own


def test_a_run_on_a_server_ends_as_one_of_this_machine_does(server: Server, tmp_path: Path) -> None:
    command = ["run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", "4", "--fail-under", "accuracy=1"]
    code, said, errors = ended(tmp_path / "empty", tmp_path, *command, "--on", server.address, "--json")
    run = orjson.loads(said)
    own_code, own, own_errors = ended(tmp_path / "own", tmp_path, *command, "--json")
    local = orjson.loads(own)
    assert code == own_code == 1
    assert run["problems"] == local["problems"]
    metrics = [[item["metrics"] for item in one["evaluations"]] for one in (run, local)]
    assert metrics[0] == metrics[1]
    assert [line for line in errors.splitlines() if line.startswith("Error")] == own_errors.splitlines()[-1:]
    assert not (tmp_path / "empty").exists()


def test_the_client_raises_what_the_library_raises(server: Server, finished: str) -> None:
    client = Client(server.address)
    assert client.run(finished).progress == 1
    with pytest.raises(NotFoundError, match="No run 'zzz'"):
        client.run("zzz")
    with pytest.raises(UserError, match="Did you mean 'puzzles'"):
        client.submit({"models": ["demo/strong"], "benchmarks": ["puzles"]})
    with pytest.raises(RunError, match="already ended"):
        client.cancel(finished)
    with pytest.raises(StoreError, match="does not answer"):
        Client("http://127.0.0.1:1").version()
    with pytest.raises(UserError, match="A server is written"):
        Client("ftp://127.0.0.1")


def test_a_client_follows_a_run_to_its_end(server: Server) -> None:
    client = Client(server.address)
    run_id = client.submit({**PLAN, "name": "followed"}).run_id
    kinds = [event.kind for event in client.follow(run_id)]
    assert set(kinds) & LAST == {"finished"}
    assert client.wait(run_id).status == "completed"
    assert len(list(client.results(run_id, limit=5))) == 24
