"""Every route as every role, with what is the caller's own and what is not; and everything that a stranger tries."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest

from commands import ended
from proctor.accounts.guessing import OF_NAME
from proctor.accounts.keys import create_key
from proctor.accounts.people import add_user, invite_first_admin, set_disabled, set_password
from proctor.accounts.projects import add_project, set_member
from proctor.benchmarks.registry import is_installed
from proctor.domain.role import KEY_SCOPES, Role
from proctor.domain.role import PERMISSIONS as OF_ROLE
from proctor.server.access import PERMISSIONS, V1, Permission
from proctor.server.sign_in import COOKIE
from proctor.stores.database import Database, open_database
from server.serving import SECRET, Answer, Server, serving

PASSWORD = "a marked password 7261"
PLAN: dict[str, Any] = {
    "name": "own",
    "models": ["demo/strong", "demo/weak"],
    "benchmarks": [{"benchmark": "puzzles", "limit": 3}],
}
ROLES = ("anonymous", "viewer", "editor", "owner", "admin")
UNKNOWN_RUN = "0000000000zz"
NO_PLAN, NO_COMMENT, NO_FILE = "p-000", "c-000", "f-000"


@dataclass
class Site:
    """A server with two projects, and what each of its callers sends to be known."""

    server: Server
    database: Database
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    """Further runs."""
    secrets: list[str] = field(default_factory=list)
    said: list[bytes] = field(default_factory=list)

    def ask(self, who: str, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        answer = self.server.ask(method, path, body, **{**self.headers.get(who, {}), **headers})
        self.said.append(answer.body)
        return answer

    def sign_in(self, name: str, password: str = PASSWORD, **headers: str) -> Answer:
        body = {"name": name, "password": password}
        return self.server.ask("POST", f"{V1}/auth/sign-in", body, **headers)

    def add(self, name: str, project: str, role: str) -> None:
        first = invite_first_admin(self.database) if role == "admin" else None
        made = first or add_user(self.database, name, is_admin=False, by="test")
        set_password(self.database, made.token, PASSWORD)
        self.secrets.append(made.token)
        if role != "admin":
            set_member(self.database, project, name, role, by="test")
        answer = self.sign_in(name)
        assert answer.status == 200, answer.body
        token = answer.headers["set-cookie"].split("=", 1)[1].split(";")[0]
        self.headers[name] = {
            "Cookie": f"{COOKIE}={token}; proctor_project={project}",
            "X_CSRF_Token": answer.json["csrf_token"],
        }
        self.secrets.append(token)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("accounts")
    with serving(folder / "home", folder, "--accounts", PROCTOR_SECRET=SECRET) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        found = Site(server, database)
        for project in ("acme", "other"):
            add_project(database, project, by="test")
            key = create_key(database, project, ["run:read", "run:write", "results:read"], by="test")
            found.headers[f"key of {project}"] = {"Authorization": f"Bearer {key.text}"}
            found.keys[project] = key.row.id
            found.secrets.append(key.text)
        for role in ("viewer", "editor", "owner", "admin"):
            found.add(role, "acme", role)
        found.add("stranger", "other", "owner")
        for project in ("acme", "other"):
            answer = found.ask(f"key of {project}", "POST", f"{V1}/runs", PLAN)
            assert answer.status == 202, answer.body
            found.runs[project] = answer.json["run_id"]
            saved = found.ask(f"key of {project}", "POST", f"{V1}/plans", {"name": "weekly", "plan": PLAN})
            found.plans[project] = saved.json["plan_id"]
            where = f"{V1}/runs/{found.runs[project]}/comments"
            found.comments[project] = found.ask(f"key of {project}", "POST", where, {"text": "ours"}).json["comment_id"]
        until = time.monotonic() + 120
        for project, run_id in found.runs.items():
            while found.ask(f"key of {project}", "GET", f"{V1}/runs/{run_id}").json["status"] != "completed":
                assert time.monotonic() < until
                time.sleep(0.2)
        yield found
        database.dispose()


def address(path: str, run_id: str, project: str, key: str, plan: str = NO_PLAN, comment: str = NO_COMMENT) -> str:
    """A route's path with what is asked for in it."""
    named = {
        "run_id": run_id, "project": project, "key_id": key, "result_id": "1", "name:path": "demo/strong",
        "name": "puzzles", "session": "0" * 16, "user": "viewer", "connection_id": "c-000",
        "token_id": "t-000", "way": "oidc", "kind": "project", "subject": "nothing",
        "plan_id": plan, "comment_id": comment, "file_id": NO_FILE,
        "submission_id": "s-000", "rescoring_id": "r-000", "webhook_id": "w-000", "delivery_id": "d-000",
    }  # fmt: skip
    for name, value in named.items():
        path = path.replace(f"{{{name}}}", value)
    if path == f"{V1}/events":
        path += "?follow=false"  # it would not end
    return path + (f"?a={run_id}:demo/strong&b={run_id}:demo/weak" if path.endswith("/compare") else "")


def may(role: str, needed: Permission) -> bool:
    if role == "admin" or needed is Permission.PUBLIC:
        return True
    return role != "anonymous" and (needed is Permission.SIGNED_IN or needed in OF_ROLE[Role(role)])


@pytest.mark.parametrize(("method", "path"), sorted(PERMISSIONS))
def test_a_route_is_open_to_whom_the_table_says_and_to_nobody_else(site: Site, method: str, path: str) -> None:
    needed = PERMISSIONS[method, path]
    is_ending = method == "DELETE" or path.endswith(("/sign-out", "/cancel"))
    for role in ROLES:
        if may(role, needed) and is_ending:
            continue  # what they may end is needed by the other tests
        where = address(path, site.runs["acme"], "acme", site.keys["acme"])
        body = {} if method in ("POST", "PUT", "PATCH") else None
        answer = site.ask(role, method, where, body)
        if may(role, needed):
            assert answer.status not in (401, 403, 500), (role, answer.body)
        else:
            assert answer.status == (401 if role == "anonymous" else 403), (role, answer.body)


FOREIGN = sorted(
    route
    for route in PERMISSIONS
    if any(part in route[1] for part in ("{run_id}", "{project}", "{key_id}", "{plan_id}", "/compare"))
)
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "comments"): {"text": "seen"},
    ("PUT", "label"): {"value": 1},
    ("PUT", "{user}"): {"role": "viewer"},
    ("PUT", "{plan_id}"): {"name": "taken", "plan": PLAN},
    ("POST", "rescore"): {"use": ["x"]},
}
"""What a request must say to be looked at, by its method and the end of its path."""


@pytest.mark.parametrize(("method", "path"), FOREIGN)
def test_what_is_another_projects_is_as_unknown_as_what_there_is_not(site: Site, method: str, path: str) -> None:
    """Also for who may do everything in a project of his own."""
    body = BODIES.get((method, path.rpartition("/")[2]))
    plan, comment = site.plans["other"], site.comments["other"]
    theirs, nothing = site.runs["other"], UNKNOWN_RUN
    for role in ("viewer", "editor", "owner", "key of acme"):
        granted = OF_ROLE[Role(role)] if role in OF_ROLE else {"run:read", "run:write", "results:read"}
        if PERMISSIONS[method, path] not in granted:
            continue
        foreign = site.ask(role, method, address(path, theirs, "other", site.keys["other"], plan, comment), body)
        unknown = site.ask(role, method, address(path, nothing, "nowhere", "nokeyatall0"), body)
        assert foreign.status == unknown.status == 404, (role, foreign.body)
        assert masked(foreign, theirs, "other", site.keys["other"], plan, comment) == masked(
            unknown, nothing, "nowhere", "nokeyatall0", NO_PLAN, NO_COMMENT
        )
    assert site.ask("key of other", "GET", f"{V1}/runs/{theirs}").json["status"] == "completed"


def masked(answer: Answer, *names: str) -> Any:
    text = answer.body.decode()
    for name in names:
        text = text.replace(f"'{name}'", "'NAME'").replace(name, "NAME")
    return {**orjson.loads(text), "request_id": ""}


def test_lists_ranks_and_the_choice_of_a_project_show_ones_own_only(site: Site) -> None:
    for who, project in (("viewer", "acme"), ("stranger", "other"), ("key of acme", "acme")):
        runs = site.ask(who, "GET", f"{V1}/runs").json["items"]
        assert [run["run_id"] for run in runs if run["run_id"] not in site.made] == [site.runs[project]]
        ranks = site.ask(who, "GET", f"{V1}/leaderboard?benchmark=puzzles").body.decode()
        assert site.runs["other" if project == "acme" else "acme"] not in ranks
    assert site.ask("viewer", "GET", f"{V1}/runs", Proctor_Project="acme").status == 200
    for who in ("viewer", "key of acme"):
        foreign = site.ask(who, "GET", f"{V1}/runs", Proctor_Project="other")
        unknown = site.ask(who, "GET", f"{V1}/runs", Proctor_Project="nowhere")
        assert foreign.status == unknown.status == 404
        assert masked(foreign, "other") == masked(unknown, "nowhere")
    assert [one["name"] for one in site.ask("viewer", "GET", f"{V1}/projects").json] == ["acme"]
    assert len(site.ask("admin", "GET", f"{V1}/projects").json) == 3
    mixed = site.ask(
        "viewer", "GET", f"{V1}/compare?a={site.runs['acme']}:demo/strong&b={site.runs['other']}:demo/weak"
    )
    assert mixed.status == 404


def test_no_id_in_a_path_a_body_a_cursor_or_a_header_opens_another_projects(site: Site) -> None:
    """Within a run of one's own, and where lists go on."""
    who, mine = "editor", f"{V1}/runs/{site.runs['acme']}"
    own = {row["result_id"] for row in site.ask(who, "GET", f"{mine}/results").json["items"]}
    theirs = site.ask("stranger", "GET", f"{V1}/runs/{site.runs['other']}/results").json["items"][0]["result_id"]
    assert theirs not in own
    assert site.ask(who, "GET", f"{mine}/results/{theirs}").status == 404
    assert site.ask(who, "PUT", f"{mine}/results/{theirs}/label", {"value": 1}).status == 404
    assert site.ask(who, "POST", f"{mine}/comments", {"text": "x", "result_id": theirs}).status == 404
    assert site.ask(who, "DELETE", f"{mine}/comments/{site.comments['other']}").status == 404
    assert {row["result_id"] for row in site.ask(who, "GET", f"{mine}/results?after={theirs}").json["items"]} <= own
    assert site.ask(who, "GET", f"{V1}/runs?after={site.runs['other']}").status == 404
    after = site.ask(who, "GET", f"{V1}/plans?after={site.plans['other']}").json["items"]
    assert {row["plan_id"] for row in after} <= {site.plans["acme"]}
    assert [row["plan_id"] for row in site.ask(who, "GET", f"{V1}/plans").json["items"]] == [site.plans["acme"]]
    events = f"{V1}/runs/{site.runs['other']}/events"
    assert site.ask(who, "GET", events, Last_Event_ID="1").status == 404
    assert site.ask(who, "POST", f"{V1}/estimate", {**PLAN, "models": [f"replay/{site.runs['other']}"]}).status == 403
    for project in ("acme", "other"):  # the same words of two projects are two requests
        made = site.ask(f"key of {project}", "POST", f"{V1}/runs", PLAN, Idempotency_Key="same").json["run_id"]
        site.made.append(made)
        assert site.ask(f"key of {project}", "POST", f"{V1}/runs/{made}/cancel").status in (202, 409)
    assert len(set(site.made)) == 2


def test_a_change_needs_the_sessions_token_and_a_key_needs_none(site: Site) -> None:
    cookie = {"Cookie": site.headers["owner"]["Cookie"]}
    for token in ({}, {"X_CSRF_Token": "0" * 64}, {"X_CSRF_Token": site.headers["viewer"]["X_CSRF_Token"]}):
        answer = site.server.ask("POST", f"{V1}/keys", {"scopes": ["run:read"]}, **cookie, **token)
        assert answer.status == 403
        assert answer.json["type"].endswith("#csrf")
    assert site.ask("owner", "POST", f"{V1}/keys", {"scopes": ["run:read"]}).status == 201
    assert site.ask("key of acme", "POST", f"{V1}/estimate", PLAN).status == 200


def test_a_key_can_do_no_more_than_who_makes_it(site: Site) -> None:
    refused = site.ask("owner", "POST", f"{V1}/keys", {"scopes": ["admin:full"]})
    assert refused.status == 403
    made = site.ask("owner", "POST", f"{V1}/keys", {"scopes": ["run:read"], "expires": "1d"}).json
    site.secrets.append(made["key"])
    site.headers["small"] = {"Authorization": f"Bearer {made['key']}"}
    assert site.ask("small", "GET", f"{V1}/runs").status == 200
    assert site.ask("small", "POST", f"{V1}/runs", PLAN).status == 403
    assert site.ask("small", "GET", f"{V1}/runs/{site.runs['acme']}/results").status == 403
    makes = site.ask("owner", "POST", f"{V1}/keys", {"scopes": ["project:admin"], "expires": "2d"}).json
    site.secrets.append(makes["key"])
    site.headers["makes"] = {"Authorization": f"Bearer {makes['key']}"}
    child = {"scopes": ["project:admin"]}
    for longer in (child, {**child, "expires": "3d"}):
        assert site.ask("makes", "POST", f"{V1}/keys", longer).status == 403, "it would outlive its maker"
    shorter = site.ask("makes", "POST", f"{V1}/keys", {**child, "expires": "1d"})
    assert shorter.status == 201
    site.secrets.append(shorter.json["key"])
    assert site.ask("admin", "PUT", f"{V1}/budgets/key/{makes['key_id']}", {"cost_usd": 1}).status == 200
    budgeted = site.ask("makes", "POST", f"{V1}/keys", {**child, "expires": "1d"})
    assert (budgeted.status, "has a budget" in budgeted.json["detail"]) == (403, True)
    me = site.ask("small", "GET", f"{V1}/auth/me").json
    assert (me["permissions"], me["csrf_token"], me["projects"]) == (["run:read"], "", ["acme"])
    assert site.ask("owner", "DELETE", f"{V1}/keys/{made['key_id']}").status == 204
    assert site.ask("small", "GET", f"{V1}/runs").status == 401


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"models": ["python/their_module:loaded"]}, "/models/0"),
        ({"models": ["command/./their_module.py"]}, "/models/0"),
        ({"models": ["http/?url=http://127.0.0.1:1/"]}, "/models/0"),
        ({"models": ["local/any"]}, "/models/0"),
        ({"judge": ["python/their_module:loaded"]}, "/judge/0"),
        ({"benchmarks": ["python://their_module:loaded"]}, "/benchmarks/0"),
        ({"benchmarks": ["../secret.yaml"]}, "/benchmarks/0"),
        ({"benchmarks": ["inspect:their_module.py@loaded"]}, "/benchmarks/0"),
        ({"benchmarks": ["inspect:any/task"]}, "/benchmarks/0"),
        ({"benchmarks": ["puzzles@../secret.yaml"]}, "/benchmarks/0"),
        ({"benchmarks": ["puzzles@secret.yaml"]}, "/benchmarks/0"),
        ({"benchmarks": [{"benchmark": "puzzles", "prompt": "secret.txt"}]}, "/benchmarks/0/prompt"),
        ({"benchmarks": ["requirements?problems=../theirs"]}, "/benchmarks/0/problems"),
        ({"benchmarks": [{"benchmark": "requirements", "wheelhouse": "/etc"}]}, "/benchmarks/0/wheelhouse"),
        ({"benchmarks": [{"benchmark": "requirements", "index": "http://127.0.0.1/"}]}, "/benchmarks/0/index"),
        ({"matrix": {"prompt": ["secret.txt"]}}, "/matrix/prompt"),
        ({"unsafe_no_sandbox": True}, "/unsafe_no_sandbox"),
    ],
)
def test_a_plan_names_nothing_of_the_servers_machine(site: Site, change: dict[str, Any], where: str) -> None:
    for who in ("owner", "admin", "key of acme"):
        for path in ("runs", "estimate"):
            answer = site.ask(who, "POST", f"{V1}/{path}", {**PLAN, **change})
            assert answer.status == 403, answer.body
            assert answer.json["type"].endswith("#kind-not-allowed")
            assert answer.json["errors"][0]["pointer"] == where


@pytest.mark.parametrize("setting", ["auth_variable", "base_url", "url", "url_variable"])
def test_a_plan_says_neither_where_a_key_goes_nor_which(site: Site, setting: str) -> None:
    for part in ({"models": [f"openai/any?{setting}=HOME"]}, {"judge": [{"model": "openai/any", setting: "HOME"}]}):
        answer = site.ask("admin", "POST", f"{V1}/runs", {**PLAN, **part})
        assert answer.status == 422, answer.body
        assert answer.json["type"].endswith("#secret-needed")
    assert site.ask("admin", "POST", f"{V1}/runs", {**PLAN, "key_hosts": ["attacker.example"]}).status == 422


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "users", {"name": "grown", "role": "owner"}),
        ("POST", "users", {"name": "grown", "password_hash": "x"}),
        ("PATCH", "users/viewer", {"is_disabled": False, "is_admin": True}),
        ("POST", "keys", {"scopes": ["run:read"], "project": "other"}),
        ("POST", "keys", {"scopes": ["run:read"], "user_id": None}),
        ("PUT", "projects/acme/members/viewer", {"role": "viewer", "project": "other"}),
        ("POST", "plans", {"name": "x", "plan": PLAN, "project": "other"}),
        ("POST", "runs", {**PLAN, "project": "other"}),
    ],
)
def test_nobody_sets_what_is_not_his_to_set(site: Site, method: str, path: str, body: Any) -> None:
    answer = site.ask("admin", method, f"{V1}/{path}", body)
    assert answer.status == 422, answer.body


def test_the_benchmarks_that_are_installed_can_be_looked_at_and_no_folder(site: Site) -> None:
    assert site.ask("viewer", "GET", f"{V1}/benchmarks/puzzles").status == 200
    for name in ("puzzles", "gsm8k", "puzzles@1"):
        assert is_installed(name)
    for name in ("puzzles@../x", "puzzles@x.yaml", "secret", "os:getcwd"):
        assert not is_installed(name)
    assert site.ask("viewer", "GET", f"{V1}/benchmarks/their_module.py").status == 404
    assert site.ask("viewer", "GET", f"{V1}/benchmarks/requirements%3Fproblems=..%252F..").status == 403


def test_a_disabled_user_is_out_at_once_and_his_streams_end(site: Site) -> None:
    site.add("leaver", "acme", "owner")
    made = site.ask("leaver", "POST", f"{V1}/keys", {"scopes": ["run:read", "run:write"]}).json
    site.headers["his key"] = {"Authorization": f"Bearer {made['key']}"}
    site.secrets.append(made["key"])
    slow = {**PLAN, "models": ["demo/strong?delay_ms=2000"], "benchmarks": [{"benchmark": "puzzles", "limit": 200}]}
    slow["limits"] = {"concurrency": 1}
    run_id = site.ask("his key", "POST", f"{V1}/runs", slow).json["run_id"]
    connection, stream = site.server.open(
        "GET", f"{V1}/runs/{run_id}/events", headers=site.headers["his key"]
    )  # fmt: skip
    assert stream.status == 200
    set_disabled(site.database, "leaver", is_disabled=True, by="test")
    for who in ("leaver", "his key"):
        assert site.ask(who, "GET", f"{V1}/runs").status == 401
    began = time.monotonic()
    text = stream.read()  # to its end
    assert time.monotonic() - began < 30
    assert b"event: finished" not in text
    connection.close()
    assert site.sign_in("leaver").status == 401
    site.ask("admin", "POST", f"{V1}/runs/{run_id}/cancel")


def test_a_member_runs_no_code_and_reads_no_file_of_the_servers_machine(site: Site) -> None:
    mark = site.server.folder / "done"
    rescore = f"{V1}/runs/{site.runs['acme']}/rescore"
    for scorer in (f'python://pathlib:Path:{{"path": "{mark}"}}', "python://os:getcwd", "os.system"):
        answer = site.ask("owner", "POST", rescore, {"scorers": [scorer], "keep": True})
        assert (answer.status, answer.json["errors"][0]["pointer"]) == (403, "/scorers/0"), answer.body
    assert site.ask("owner", "POST", rescore, {"scorers": ["exact"], "keep": True}).status == 202
    for name in ("../secret.yaml", "/etc/passwd", "secret.yaml", "puzzles@../secret.yaml", "python://os:getcwd"):
        answer = site.ask("owner", "POST", f"{V1}/runs", {**PLAN, "benchmarks": [name]})
        assert (answer.status, answer.json["errors"][0]["pointer"]) == (403, "/benchmarks/0"), answer.body


def test_guessing_is_answered_alike_and_then_stopped(site: Site) -> None:
    """From one address; the test's own sign-ins come before."""
    known, unknown = site.sign_in("viewer", "wrong"), site.sign_in("nobody", "wrong")
    assert known.status == unknown.status == 401
    assert masked(known) == masked(unknown)
    answers = [
        site.sign_in("nobody", f"guess {number}", X_Forwarded_For=f"192.0.2.{number}") for number in range(OF_NAME)
    ]
    assert answers[-1].status == 429  # what a stranger says of where he comes from is not believed
    assert int(answers[-1].headers["retry-after"]) > 60
    assert site.sign_in("viewer").status == 200


def test_the_audit_log_says_who_did_what_and_no_secret_is_shown_anywhere(site: Site) -> None:
    rows = site.ask("admin", "GET", f"{V1}/audit?limit=1000").json["items"]
    seen = {(row["who"], row["what"], row["outcome"]) for row in rows}
    assert ("nobody", "sign-in", "refused") in seen or ("viewer", "sign-in", "done") in seen
    assert ("owner", "create-key", "done") in seen
    code, out, err = ended(site.server.home, site.server.folder, "audit", "verify")
    assert (code, err) == (0, "")
    assert "none changed or missing" in out
    for key in ("users", "keys", "projects", "auth/sessions"):
        assert site.ask("admin", "GET", f"{V1}/{key}").status == 200
    shown = b"\n".join(part for part in site.said if b'"key":"pk_' not in part)
    for secret in (*site.secrets, PASSWORD, "argon2"):
        assert secret.encode() not in shown


def test_what_cannot_be_served_safely_is_refused(tmp_path: Path) -> None:
    for arguments, said in (
        (["--host", "0.0.0.0"], "in the clear"),
        (["--host", "0.0.0.0", "--origin", "https://"], "such as https://proctor.example"),
        (["--tls-key", "missing.pem"], "--tls-key needs --tls-certificate"),
        (["--tls-certificate", "missing.pem"], "There is no file missing.pem"),
    ):
        code, _, err = ended(tmp_path / "home", tmp_path, "serve", "--port", "0", *arguments)
        assert code == 2
        assert said in err


def test_the_scopes_of_keys_are_the_permissions_of_routes() -> None:
    assert {*KEY_SCOPES, "public", "signed-in"} == set(Permission)
