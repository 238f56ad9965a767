"""Keys that projects have for providers: used by their runs, at their address, and read by nobody."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commands import ended
from fakes.provider import FakeProvider
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.domain.errors import MissingKeyError
from proctor.models.key_hosts import bound_key
from proctor.models.provider import find_key
from proctor.models.registry import provider_of
from proctor.server.access import V1
from proctor.stores.database import Database, open_database
from server.serving import Answer, Server, serving

pytestmark = pytest.mark.sqlite
FIRST, SECOND = "mZ4vR8tQ1xK7wB3nY6cJ9hL2fD5gS0pA", "uE2sX9kV5rT8yN1bM4qW7zC0jH6aG3dP"
KEY = "sk-marked-key-of-acme-93ab17"
SERVERS = "sk-marked-key-of-the-server-5510"
SCOPES = ["benchmark:read", "run:read", "run:write", "results:read", "project:admin"]


class Site:
    def __init__(self, server: Server, database: Database) -> None:
        self.server, self.database = server, database
        self.keys = {}
        for project in ("acme", "other"):
            add_project(database, project, by="test")
            self.keys[project] = create_key(database, project, SCOPES, by="test").text
        self.keys["reader"] = create_key(database, "acme", ["run:read"], by="test").text

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.ask(method, f"{V1}{path}", body, Authorization=f"Bearer {self.keys[who]}")


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider(key=KEY) as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("keys")
    secret = folder / "secret"
    secret.write_text(f"{FIRST}\n")
    host = provider.url.removeprefix("http://")
    given = {"PROCTOR_SECRET_FILE": str(secret), "PROCTOR_KEY_HOSTS": host, "OPENAI_API_KEY": SERVERS}
    with serving(folder / "home", folder, "--accounts", **given) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        yield Site(server, database)
        database.dispose()


def plan(provider: FakeProvider) -> dict[str, Any]:
    model = {"model": "openai/any", "base_url": f"{provider.url}/v1"}
    return {"models": [model], "benchmarks": [{"benchmark": "arithmetic", "limit": 3}], "cache": False}


def kind_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["type"].partition("#")[2]


def test_a_key_is_kept_for_a_project_and_used_by_its_runs_alone(site: Site, provider: FakeProvider) -> None:
    address = f"{provider.url}/v1"
    assert kind_of(site.ask("acme", "POST", "/runs", plan(provider))) == (422, "secret-needed")
    assert site.ask("reader", "POST", "/provider-keys", {"provider": "openai", "key": KEY}).status == 403
    made = site.ask("acme", "POST", "/provider-keys", {"provider": "openai", "key": KEY, "base_url": address})
    assert made.status == 201, made.body
    listed = site.ask("reader", "GET", "/provider-keys")
    assert listed.json == [made.json]
    assert made.json["has_key"] is True
    assert site.ask("other", "GET", "/provider-keys").json == []

    accepted = site.ask("acme", "POST", "/runs", plan(provider))
    assert accepted.status == 202, accepted.body
    run_id = accepted.json["run_id"]
    run = site.server.wait_as(run_id, site.keys["acme"])
    assert (run["status"], run["evaluations"][0]["scored"]) == ("completed", 3), run
    sent = {request.headers.get("authorization") for request in provider.requests}
    assert sent == {f"Bearer {KEY}"}

    assert kind_of(site.ask("other", "POST", "/runs", plan(provider))) == (422, "secret-needed")
    foreign = site.ask("other", "DELETE", f"/provider-keys/{made.json['connection_id']}")
    unknown = site.ask("other", "DELETE", "/provider-keys/c-000000000000")
    assert foreign.status == unknown.status == 404
    said = made.body + listed.body + site.ask("acme", "GET", f"/runs/{run_id}/results").body
    kept = b"".join(path.read_bytes() for path in site.server.home.rglob("*") if path.is_file())
    for secret in (KEY, FIRST, SERVERS):
        assert secret.encode() not in said + kept


def test_an_answer_that_a_project_paid_for_is_none_for_another(site: Site, provider: FakeProvider) -> None:
    asked = []
    for who in ("acme", "acme", "other"):
        said = {"provider": "openai", "key": KEY, "base_url": f"{provider.url}/v1"}
        made = site.ask(who, "POST", "/provider-keys", said)
        assert made.status in (201, 409)
        before = len(provider.requests)
        accepted = site.ask(who, "POST", "/runs", {**plan(provider), "cache": True, "seed": 5})
        run = site.server.wait_as(accepted.json["run_id"], site.keys[who])
        assert run["status"] == "completed"
        asked.append((len(provider.requests) - before, run["evaluations"][0]["cached"]))
    assert asked == [(3, 0), (0, 3), (3, 0)]
    assert site.ask("other", "DELETE", f"/provider-keys/{made.json['connection_id']}").status == 204


@pytest.mark.parametrize(
    "address",
    ["https://attacker.example/v1", "http://169.254.169.254/", "http://127.0.0.1:9/v1", "http://api.openai.com/v1",
     "https://api.openai.com:8443/v1", "https://api.openai.com.attacker.example/v1", "https://x@api.openai.com/v1"],
)  # fmt: skip
def test_no_caller_says_that_a_key_goes_elsewhere(site: Site, address: str) -> None:
    """Neither to other hosts, nor to another port or in the clear: only the operator names those."""
    answer = site.ask("acme", "POST", "/provider-keys", {"provider": "openai", "key": KEY, "base_url": address})
    assert answer.status == 422, answer.body
    assert KEY.encode() not in answer.body


def test_a_key_is_bound_to_scheme_host_and_port(site: Site, provider: FakeProvider) -> None:
    own = site.ask("other", "POST", "/provider-keys", {"provider": "openai", "key": "sk-others"})
    assert own.json["base_url"] == "https://api.openai.com/v1"
    for address in (f"{provider.url}/v1", "http://api.openai.com/v1", "https://api.openai.com:444/v1"):
        body = {**plan(provider), "models": [{"model": "openai/any", "base_url": address}]}
        assert kind_of(site.ask("other", "POST", "/runs", body)) == (422, "secret-needed")
    others = {"models": [{"model": "anthropic/any", "base_url": "https://api.openai.com/v1"}]}
    assert kind_of(site.ask("other", "POST", "/runs", {**plan(provider), **others})) == (422, "secret-needed")
    assert site.ask("other", "DELETE", f"/provider-keys/{own.json['connection_id']}").status == 204


def test_which_keys_are_there_is_said_and_never_one_of_them(site: Site) -> None:
    before = {one["provider"]: one["has_key"] for one in site.ask("other", "GET", "/models").json}
    assert before["anthropic"] is False
    made = site.ask("other", "POST", "/provider-keys", {"provider": "anthropic", "key": "sk-ant-1"}).json
    after = {one["provider"]: one["has_key"] for one in site.ask("other", "GET", "/models").json}
    assert after == {**before, "anthropic": True}
    assert site.ask("acme", "GET", "/models").json != after
    site.ask("other", "DELETE", f"/provider-keys/{made['connection_id']}")


@pytest.mark.parametrize("key", ["", " ", "two\nlines", "schlüssel"])
def test_a_key_that_is_none_is_refused_without_being_shown(site: Site, key: str) -> None:
    answer = site.ask("acme", "POST", "/provider-keys", {"provider": "openai", "key": key})
    assert answer.status == 422
    assert not key.strip() or key.encode() not in answer.body


def test_the_operator_keeps_keys_and_rotates_the_secret(
    site: Site, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home, folder = tmp_path / "home", tmp_path

    def proctor(*arguments: str) -> tuple[int, str, str]:
        return ended(home, folder, *arguments)

    assert "needs a secret of the server" in set_key(monkeypatch, proctor, "openai")[2]
    monkeypatch.setenv("PROCTOR_SECRET", FIRST)
    code, out, err = set_key(monkeypatch, proctor, "openai", "--base-url", f"{provider.url}/v1")
    assert (code, err) == (0, "")
    assert KEY not in out
    code, _, err = set_key(monkeypatch, proctor, "opnai")
    assert (code, "Did you mean 'openai'?" in err) == (2, True)
    assert KEY not in proctor("provider-keys", "list", "--json")[1]
    sealed = sealed_in(home)
    monkeypatch.setenv("PROCTOR_SECRET", f"{SECOND},{FIRST}")
    assert proctor("keys", "rotate")[1].startswith("Sealed anew: 1.")
    assert sealed_in(home) != sealed
    monkeypatch.setenv("PROCTOR_SECRET", FIRST)
    code, _, err = proctor("keys", "rotate")
    assert (code, "does not have any more" in err) == (2, True)


def set_key(monkeypatch: pytest.MonkeyPatch, proctor: Any, *arguments: str) -> Any:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(f"{KEY}\n"))
    return proctor("provider-keys", "set", *arguments)


def sealed_in(home: Path) -> str:
    database = open_database(f"sqlite:///{home / 'proctor.db'}")
    try:
        with database.connection() as connection:
            return str(connection.execute("SELECT sealed FROM provider_keys").fetchone()[0])
    finally:
        database.dispose()


def test_a_server_that_others_can_reach_needs_a_secret_that_nobody_guesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = ("serve", "--port", "0", "--origin", "https://proctor.example")
    code, _, err = ended(tmp_path / "home", tmp_path, *where)
    assert (code, "needs a secret of the server" in err) == (2, True)
    for secret in ("changeme", "x" * 64, "the-default-secret-of-proctor-012345"):
        monkeypatch.setenv("PROCTOR_SECRET", secret)
        for arguments in (where, ("serve", "--port", "0")):
            code, _, err = ended(tmp_path / "home", tmp_path, *arguments)
            assert (code, "can be guessed" in err, secret in err) == (2, True, False)


@pytest.mark.parametrize(
    "address", ["http://api.openai.com/v1", "https://api.openai.com:444/v1", "https://eu.api.openai.com/v1"]
)
def test_an_adapter_finds_a_key_only_for_its_own_address(address: str) -> None:
    """Whatever was checked before: the last look is where the request is made."""
    provider = provider_of("openai")
    environment = {bound_key("openai", "https://api.openai.com/v1"): KEY}

    def found(url: str) -> str | None:
        return find_key(provider, environment, model="any", base_url=url, variable=None)

    assert found("https://api.openai.com/v1") == found("https://API.openai.com:443/v2") == KEY
    with contextlib.suppress(MissingKeyError):
        assert found(address) is None
