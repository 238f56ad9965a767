"""The OpenAPI document is exact: no answer that it does not name, no body that breaks its schema, never a 500."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, Phase, settings

from proctor.domain.plan import Limits, Plan
from server.conftest import PLAN
from server.serving import SECRET, Server, serving

V1 = "/api/v1"
CASES = 12
"""For each operation; tests/server/test_fuzz_roles.py asks thousands, as every role."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Of its own: what is drawn here leaves keys, plans and runs in it."""
    folder: Path = tmp_path_factory.mktemp("described")
    with serving(folder / "home", folder, PROCTOR_SECRET=SECRET) as found:
        yield found


@pytest.fixture(scope="module")
def finished(server: Server) -> str:
    return server.run(PLAN)


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(method, path, told) for path, item in document["paths"].items() for method, told in item.items()]


def test_every_operation_says_who_may_call_it_and_what_can_go_wrong(server: Server) -> None:
    document = server.get(f"{V1}/openapi.json")
    assert document["openapi"].startswith("3.1")
    names = [told["operationId"] for _, _, told in operations(document)]
    assert len(names) == len(set(names))
    for method, path, told in operations(document):
        assert told["x-permission"], path
        assert told["description"], path
        assert {"422", "421", "403"} <= set(told["responses"]), path
        if method in ("post", "put", "patch") and "requestBody" in told:
            assert {"400", "413", "415"} <= set(told["responses"]), path


def test_examples_are_taken_as_they_are_written(server: Server, finished: str) -> None:
    document = server.get(f"{V1}/openapi.json")
    sent = 0
    # Nobody of that name is here, no such link or token was made, and nobody has a session.
    refused = {"signIn": 401, "setPassword": 401, "issueTokens": 403, "refreshTokens": 401}
    for method, path, told in operations(document):
        content = told.get("requestBody", {}).get("content", {})
        for kind in content.values():
            if "example" in kind:
                named = {"project": "acme", "user": "grace", "kind": "project", "subject": "local"}
                address = path.format(run_id=finished, name="grace", **named)
                answer = server.ask(method.upper(), address, kind["example"])
                assert str(answer.status) in told["responses"], (path, answer.body)
                assert answer.status < 400 or answer.status == refused.get(told["operationId"]), (path, answer.body)
                sent += 1
    assert sent >= 10


def test_a_plan_is_described_with_every_field_that_people_may_write(server: Server) -> None:
    described = server.get(f"{V1}/openapi.json")["components"]["schemas"]["Plan"]["properties"]
    assert set(described) == set(Plan.__struct_fields__) - Plan.HIDDEN
    assert set(described["limits"]["properties"]) == set(Limits.__struct_fields__)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
@pytest.mark.timeout(600)
def test_no_request_makes_the_server_answer_otherwise_than_it_says(server: Server, finished: str) -> None:
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance
    ]  # fmt: skip
    # What deletes runs or follows for ever has tests of its own; here it gets ids that there are not.
    schema = schemathesis.openapi.from_dict(orjson.loads(server.ask("GET", f"{V1}/openapi.json").body))
    schema.config.base_url = server.address

    for result in schema.get_all_operations():
        operation = result.ok()
        strategy = operation.as_strategy()

        @settings(
            max_examples=CASES,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @__import__("hypothesis").given(case=strategy)
        def ask(case: Any) -> None:
            if "run_id" in (case.path_parameters or {}) and case.method == "GET":
                case.path_parameters["run_id"] = finished
            if case.path == f"{V1}/events":
                case.query = {**(case.query or {}), "follow": "false"}
            case.call_and_validate(checks=checks, timeout=60)

        ask()
    assert server.get("/health") == {"status": "ok"}
