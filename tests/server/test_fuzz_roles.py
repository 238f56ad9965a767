"""Drawn requests as every role, one by one and in sequences: no 500, no status and no body that is not documented.

One case for each operation and role here; FUZZ_CASES=20 asks more than ten thousand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.domain.role import PERMISSIONS as OF_ROLE
from proctor.domain.role import Role
from proctor.server.access import V1
from proctor.stores.database import open_database
from server.serving import SECRET, Server, serving

pytestmark = [
    pytest.mark.sqlite,
    pytest.mark.long,
    pytest.mark.timeout(3_000),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning"),
]
CASES = int(os.environ.get("FUZZ_CASES", "1"))
"""For each operation and role."""
SEQUENCES, STEPS = 12 * CASES, 12
ROLES = ("anybody", "viewer", "editor", "owner", "admin")
TIMEOUT_SECONDS = 120
Site = tuple[Server, dict[str, dict[str, str]]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("roles")
    more = {"PROCTOR_SECRET": SECRET, "PROCTOR_REQUESTS_PER_MINUTE": "0", "PROCTOR_OFFLINE": "1"}
    with serving(folder / "home", folder, "--accounts", **more) as server:
        database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
        add_project(database, "acme", by="test")
        scopes = {str(role): sorted(OF_ROLE[role]) for role in Role} | {"admin": ["admin:full"]}
        headers = {
            name: {"Authorization": f"Bearer {create_key(database, 'acme', given, by='test').text}"}
            for name, given in scopes.items()
        }
        database.dispose()
        yield server, {**headers, "anybody": {}}


def described(server: Server) -> Any:
    import schemathesis

    schema = schemathesis.openapi.from_dict(orjson.loads(server.ask("GET", f"{V1}/openapi.json").body))
    schema.config.base_url = server.address
    return schema


def checks() -> list[Any]:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    return [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


def quiet(count: int, **more: Any) -> Any:
    """The same cases every time; more of them with another number."""
    return settings(
        max_examples=count, deadline=None, derandomize=True, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck), **more,
    )  # fmt: skip


def tame(case: Any) -> None:
    """A stream that is followed for ever ends at once."""
    if case.path == f"{V1}/events":
        case.query = {**(case.query or {}), "follow": "false"}


@pytest.mark.parametrize("role", ROLES)
def test_each_operation_answers_as_it_says_to_every_role(site: Site, role: str) -> None:
    server, headers = site
    refused = set()
    for result in described(server).get_all_operations():
        operation = result.ok()

        @quiet(CASES)
        @given(case=operation.as_strategy())
        def ask(case: Any) -> None:
            tame(case)
            answer = case.call_and_validate(checks=checks(), headers=headers[role], timeout=TIMEOUT_SECONDS)
            if answer.status_code in (401, 403):
                refused.add(case.operation.label)

        ask()
    assert server.get("/health") == {"status": "ok"}
    assert bool(refused) or role == "admin"


@pytest.mark.parametrize("role", ["editor", "admin"])
def test_sequences_that_use_what_earlier_answers_gave_are_answered_as_they_say(site: Site, role: str) -> None:
    server, headers = site
    machine: Any = described(server).as_state_machine()
    calls = []

    class Sequence(machine):  # type: ignore[misc]
        def before_call(self, case: Any) -> None:
            tame(case)

        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": headers[role], "timeout": TIMEOUT_SECONDS}

        def validate_response(self, response: Any, case: Any, **_: Any) -> None:
            calls.append((case.operation.label, response.status_code))
            case.validate_response(response, checks=checks(), headers=headers[role])

    Sequence.run(settings=quiet(SEQUENCES, stateful_step_count=STEPS))
    assert len(calls) > SEQUENCES
    assert any(status < 300 and "{" in label for label, status in calls), "what was made is used further on"
    assert server.get("/health") == {"status": "ok"}
