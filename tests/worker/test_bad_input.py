"""What is wrong with a worker's surroundings is said in one line, before anything is done."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from commands import Cli
from proctor.domain.errors import UserError
from proctor.worker.broker import check_broker, read_url
from proctor.worker.tasks import is_chunk_id, is_run_id
from redis_server import RedisServer

RUN = ("run", "puzzles", "-m", "demo/strong", "--limit", "1")
POSTGRESQL = "postgresql://nobody@127.0.0.1:1/none"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("reds://127.0.0.1:6379/0", "Did you mean 'redis'?"),
        ("amqp://127.0.0.1", "Workers are told of runs through Redis."),
        ("127.0.0.1:6379", "has the form redis://:PASSWORD@HOST:PORT/0"),
        ("redis://:6379/0", "names no host"),
        ("redis://127.0.0.1:port/0", "has the form redis://"),
        ("redis://127.0.0.1:6379/first", "ends with the number of a database"),
    ],
)
def test_an_address_with_a_typo_is_refused(url: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        read_url(url)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("socket_timeut=3", "an option that there is not: .*'socket_timeut'"),
        ("socket_timeout=soon", "cannot be read: Invalid value for 'socket_timeout'"),
    ],
)
def test_an_option_with_a_typo_is_refused(options: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        check_broker(f"redis://127.0.0.1:1/0?{options}")


@pytest.mark.parametrize("password", ["", ":redis@", ":changeme@", ":short@"])
def test_a_broker_that_strangers_could_use_is_refused(password: str) -> None:
    with pytest.raises(UserError, match="not this machine") as error:
        check_broker(f"redis://{password}192.0.2.1:6379/0")
    assert "short" not in str(error.value)


def test_a_broker_that_is_not_there_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        monkeypatch.setenv("PROCTOR_DATABASE_URL", POSTGRESQL)
        monkeypatch.setenv("PROCTOR_BROKER_URL", f"redis://127.0.0.1:{taken.getsockname()[1]}/0")
        for command in (RUN, ("worker",)):
            ended = cli(*command)
            assert ended.code == 1
            assert "cannot be reached" in ended.error
            assert "--here" in ended.error


def test_a_wrong_password_is_said_and_not_shown(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, make_redis: Callable[[str], RedisServer]
) -> None:
    server = make_redis("the-right-one")
    monkeypatch.setenv("PROCTOR_DATABASE_URL", POSTGRESQL)
    monkeypatch.setenv("PROCTOR_BROKER_URL", server.url.replace("the-right-one", "a-wrong-one"))
    ended = cli("worker")
    assert ended.code == 2
    assert "refused the password in PROCTOR_BROKER_URL" in ended.error
    assert "wrong-one" not in ended.error
    check_broker(server.url)


@pytest.mark.parametrize("command", [RUN, ("worker",)])
def test_workers_on_sqlite_are_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    monkeypatch.setenv("PROCTOR_BROKER_URL", "redis://127.0.0.1:1/0")
    ended = cli(*command)
    assert ended.code == 2
    assert "Workers need PostgreSQL" in ended.error
    assert "proctor db copy" in ended.error


def test_a_pool_that_there_is_not_is_refused(cli: Cli) -> None:
    ended = cli("worker", "--pools", "default,sandbx")
    assert ended.code == 2
    assert "Did you mean 'sandbox'?" in ended.error


def test_beat_without_a_broker_is_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_DATABASE_URL", POSTGRESQL)
    assert "--beat announces through a broker" in cli("worker", "--beat").error


@pytest.mark.parametrize("value", ["1", True, 0, -1, 2**63, 1.5, None, [1], {"id": 1}])
def test_a_message_that_is_no_id_of_a_chunk_is_dropped(value: object) -> None:
    assert not is_chunk_id(value)
    assert is_chunk_id(7)


@pytest.mark.parametrize("value", [7, "", "../runs", "1NF", "a" * 41, "1nfmcy1thxvv\n", None, ["1nfmcy1thxvv"]])
def test_a_message_that_is_no_id_of_a_run_is_dropped(value: object) -> None:
    assert not is_run_id(value)
    assert is_run_id("1nfmcy1thxvv")
