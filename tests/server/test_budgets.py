"""Budgets over the API: what is exhausted says so, and real runs stay within."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fakes.provider import FakeProvider
from proctor.accounts.keys import create_key
from proctor.accounts.projects import add_project
from proctor.server.access import V1
from proctor.stores.database import open_database
from server.serving import SECRET, Answer, Server, serving

pytestmark = pytest.mark.sqlite


RUBRIC = "judge_rubric:criteria=Is it right?"


class Site:
    def __init__(self, server: Server, keys: dict[str, str], provider: FakeProvider) -> None:
        self.server, self.keys, self.provider = server, keys, provider

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.ask(method, f"{V1}{path}", body, Authorization=f"Bearer {self.keys[who]}")

    def plan(self, cost_usd: float | None) -> dict[str, Any]:
        """Each request costs at most 1,000 output tokens of a dollar a million, and its prompt."""
        limits: dict[str, Any] = {"assume_price": "1/1000", "concurrency": 2}
        return {
            "models": [{"model": "openai/any", "base_url": f"{self.provider.url}/v1", "max_tokens": 20}],
            "benchmarks": [{"benchmark": "arithmetic", "limit": 4}],
            "cache": False,
            "limits": limits if cost_usd is None else {**limits, "cost_usd": cost_usd},
        }

    def rescored(self, run_id: str, asked: Any) -> Any:
        """The rescoring, once it has ended."""
        answer = self.ask("owner", "POST", f"/runs/{run_id}/rescore", asked)
        assert answer.status == 202, answer.body
        path, until = answer.headers["location"].removeprefix("/api/v1"), time.monotonic() + 120
        while (found := self.ask("owner", "GET", path).json)["ended_at"] is None:
            assert time.monotonic() < until, found
            time.sleep(0.1)
        return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp("budgets")
    with FakeProvider() as provider:
        host = provider.url.removeprefix("http://")
        with serving(
            folder / "home", folder, "--accounts", PROCTOR_SECRET=SECRET, PROCTOR_KEY_HOSTS=host
        ) as server:  # fmt: skip
            database = open_database(f"sqlite:///{folder / 'home' / 'proctor.db'}")
            add_project(database, "acme", by="test")
            scopes = ["run:read", "run:write", "results:read", "project:admin"]
            keys = {
                "owner": create_key(database, "acme", scopes, by="test").text,
                "editor": create_key(database, "acme", ["run:read", "run:write", "results:read"], by="test").text,
                "admin": create_key(database, "acme", ["admin:full"], by="test").text,
            }
            database.dispose()
            found = Site(server, keys, provider)
            connection = {"provider": "openai", "base_url": f"{provider.url}/v1"}
            assert found.ask("owner", "POST", "/provider-keys", connection).status == 201
            yield found


def kind_of(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.json["type"].partition("#")[2]


def test_runs_that_come_at_once_spend_no_more_than_the_budget(site: Site) -> None:
    budget = {"cost_usd": 1.0, "per": "total"}
    assert site.ask("owner", "PUT", "/budgets/project/acme", budget).status == 403
    assert site.ask("admin", "PUT", "/budgets/project/acme", budget).status == 200
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: site.ask("owner", "POST", "/runs", site.plan(0.4)), range(20)))
    assert sorted({answer.status for answer in answers}) == [202, 402]
    accepted = [answer.json["run_id"] for answer in answers if answer.status == 202]
    assert len(accepted) == 2
    refused = next(answer for answer in answers if answer.status == 402)
    assert kind_of(refused) == (402, "budget")
    assert "$0.20 left, of $1.00" in refused.json["detail"]
    assert "could cost $0.40" in refused.json["detail"]
    assert kind_of(site.ask("owner", "POST", "/runs", site.plan(None))) == (402, "budget")
    assert len(site.ask("owner", "GET", "/runs").json["items"]) == 2  # what is refused is not there
    for run_id in accepted:
        assert site.server.wait_as(run_id, site.keys["owner"])["status"] == "completed"
    [found] = site.ask("owner", "GET", "/budgets").json
    assert 0 < float(found["spent_usd"]) < 0.8  # what was not spent is given back
    assert (found["runs_now"], found["subject"]) == (0, "acme")

    playground = {"models": ["demo/weak"], "prompt": "Hello"}
    assert kind_of(site.ask("owner", "POST", "/playground", playground)) == (402, "budget")
    judged = {"scorers": [RUBRIC], "judge": [f"openai/any?base_url={site.provider.url}/v1"]}
    assert kind_of(site.ask("owner", "POST", f"/runs/{accepted[0]}/rescore", judged)) == (402, "budget")
    assert site.ask("admin", "DELETE", "/budgets/project/acme").status == 204
    assert site.ask("owner", "POST", "/runs", site.plan(None)).status == 202


def test_scoring_again_with_a_judge_reserves_what_it_may_cost_and_gives_back_the_rest(site: Site) -> None:
    plan = site.plan(None)
    made = site.ask("owner", "POST", "/runs", {**plan, "judge": plan["models"]})
    assert made.status == 202, made.json
    run_id = made.json["run_id"]
    assert site.server.wait_as(run_id, site.keys["owner"])["status"] == "completed"
    assert site.ask("admin", "PUT", "/budgets/project/acme", {"cost_usd": 1.0, "per": "total"}).status == 200
    asked = len(site.provider.requests)
    again = {"scorers": [RUBRIC.replace("right", "friendly")]}
    answer = site.ask("owner", "POST", f"/runs/{run_id}/rescore", again)
    assert (kind_of(answer), len(site.provider.requests)) == ((402, "budget"), asked)
    assert kind_of(site.ask("owner", "POST", f"/runs/{run_id}/rescore", {**again, "cost_usd": 2})) == (402, "budget")
    little = site.rescored(run_id, {**again, "cost_usd": 0.001})
    assert (little["status"], little["result"]["is_out_of_money"]) == ("failed", True)
    assert "cost limit of $0.001 allows no request" in little["error"]
    assert len(site.provider.requests) == asked
    scored = site.rescored(run_id, {**again, "cost_usd": 0.5})
    assert scored["status"] in ("completed", "failed"), scored  # this judge's verdicts cannot be read
    assert asked < len(site.provider.requests) <= asked + 12, "an unreadable verdict is asked for again, at most twice"
    [found] = site.ask("owner", "GET", "/budgets").json
    assert 0 < float(found["spent_usd"]) < 0.4, "what the judge did not cost is given back"
    assert found["runs_now"] == 0
    assert site.rescored(run_id, {"scorers": ["exact"]})["status"] == "completed"
    assert site.ask("admin", "DELETE", "/budgets/project/acme").status == 204


def test_what_scoring_again_without_a_limit_cost_is_known_to_a_budget_that_is_set_later(site: Site) -> None:
    def spent() -> float:
        assert site.ask("admin", "PUT", "/budgets/project/acme", {"cost_usd": 1000.0, "per": "total"}).status == 200
        [found] = site.ask("owner", "GET", "/budgets").json
        assert site.ask("admin", "DELETE", "/budgets/project/acme").status == 204
        return float(found["spent_usd"])

    plan = site.plan(None)
    made = site.ask("owner", "POST", "/runs", {**plan, "judge": plan["models"]})
    run_id = made.json["run_id"]
    assert site.server.wait_as(run_id, site.keys["owner"])["status"] == "completed"
    before = spent()
    site.rescored(run_id, {"scorers": [RUBRIC.replace("right", "brief")]})
    assert spent() > before


def test_one_run_too_many_at_once_is_told_to_come_again(site: Site) -> None:
    assert site.ask("admin", "PUT", "/budgets/project/acme", {"runs_at_once": 0}).status == 200
    answer = site.ask("owner", "POST", "/runs", site.plan(None))
    assert kind_of(answer) == (429, "limit-reached")
    assert int(answer.headers["retry-after"]) >= 1
    assert site.ask("admin", "DELETE", "/budgets/project/acme").status == 204
    assert site.ask("admin", "DELETE", "/budgets/project/acme").status == 404
    assert site.ask("admin", "PUT", "/budgets/team/acme", {"cost_usd": 1}).status == 422


def test_asks_of_the_playground_reserve_what_they_can_cost_and_give_back_the_rest(site: Site) -> None:
    database = open_database(f"sqlite:///{site.server.home / 'proctor.db'}")
    add_project(database, "asks", by="test")  # whose budget nobody else uses
    site.keys["asker"] = create_key(
        database, "asks", ["run:read", "run:write", "results:read", "project:admin"], by="test"
    ).text
    database.dispose()
    connection = {"provider": "openai", "base_url": f"{site.provider.url}/v1"}
    assert site.ask("asker", "POST", "/provider-keys", connection).status == 201
    ask = {
        "models": [{"model": "openai/any", "base_url": f"{site.provider.url}/v1"}] * 2,
        "prompt": "What is 3 + 4?",
        "options": {"max_tokens": 20},
        "assume_price": "1/1000",
        "cost_usd": 0.2,
    }
    budget = {"cost_usd": 0.1, "per": "total"}
    assert site.ask("admin", "PUT", "/budgets/project/asks", budget).status == 200
    with ThreadPoolExecutor(8) as pool:  # two requests of at most 20 tokens of a thousandth of a dollar each: $0.04
        answers = list(pool.map(lambda _: site.ask("asker", "POST", "/playground", ask), range(8)))
    assert {answer.status for answer in answers} == {202, 402}
    accepted = [answer.json["ask_id"] for answer in answers if answer.status == 202]
    for ask_id in accepted:
        assert b"event: end" in site.ask("asker", "GET", f"/playground/{ask_id}/events").body
    until = time.monotonic() + 60
    spent = len(accepted) * 2 * (11 + 7 * 1000) / 1e6
    while abs(float(site.ask("asker", "GET", "/budgets").json[0]["spent_usd"]) - spent) > 1e-9:
        assert time.monotonic() < until, site.ask("asker", "GET", "/budgets").json
        time.sleep(0.1)
    assert site.ask("asker", "GET", "/budgets").json[0]["runs_now"] == 0
    assert site.ask("admin", "DELETE", "/budgets/project/asks").status == 204


def test_an_ask_that_is_being_answered_counts_among_what_goes_on_at_once(site: Site) -> None:
    database = open_database(f"sqlite:///{site.server.home / 'proctor.db'}")
    add_project(database, "slow", by="test")
    scopes = ["run:read", "run:write", "results:read", "project:admin"]
    site.keys["slow"] = create_key(database, "slow", scopes, by="test").text
    database.dispose()
    connection = {"provider": "openai", "base_url": f"{site.provider.url}/v1"}
    assert site.ask("slow", "POST", "/provider-keys", connection).status == 201
    assert site.ask("admin", "PUT", "/budgets/project/slow", {"runs_at_once": 1}).status == 200
    ask = {"models": [f"openai/any?base_url={site.provider.url}/v1"], "prompt": "What is 3 + 4?"}
    usual, site.provider.event_seconds = site.provider.event_seconds, 5.0
    try:
        first = site.ask("slow", "POST", "/playground", ask)
        assert first.status == 202, first.json
        assert kind_of(site.ask("slow", "POST", "/playground", ask)) == (429, "limit-reached")
        assert site.ask("slow", "POST", f"/playground/{first.json['ask_id']}/stop", {}).status == 200
    finally:
        site.provider.event_seconds = usual
    until = time.monotonic() + 60
    while site.ask("slow", "POST", "/playground", ask).status == 429:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_who_may_not_set_budgets_says_no_price_that_lowers_what_is_reserved(site: Site) -> None:
    cheap = {**site.plan(0.4), "limits": {"assume_price": "0/0", "cost_usd": 0.4}}
    ask = {"models": ["openai/any"], "prompt": "Hello", "cost_usd": 0.1, "assume_price": "0/0"}
    assert site.ask("admin", "PUT", "/budgets/project/acme", {"cost_usd": 1.0, "per": "total"}).status == 200
    for path, body, pointer in (("/runs", cheap, "/limits/assume_price"), ("/playground", ask, "/assume_price")):
        answer = site.ask("editor", "POST", path, body)
        assert kind_of(answer) == (403, "owners-only"), answer.body
        assert answer.json["errors"][0]["pointer"] == pointer
    # For a model that has a price, nobody's assumption counts.
    priced = {"models": ["openai/gpt-5?max_tokens=100"], "benchmarks": [{"benchmark": "puzzles", "limit": 3}]}
    plain = site.ask("owner", "POST", "/estimate", priced).json
    assumed = site.ask("owner", "POST", "/estimate", {**priced, "limits": {"assume_price": "0/0"}}).json
    assert plain["cost"] == assumed["cost"]
    assert "assumed" not in str(assumed["cost"])
    assert site.ask("admin", "DELETE", "/budgets/project/acme").status == 204
    assert site.ask("editor", "POST", "/runs", {**cheap, "limits": {"assume_price": "1/1000"}}).status == 202
