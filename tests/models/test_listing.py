"""Live lists of models, and how long they are believed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import astuple

from fakes.loopback import Exchange, Loopback, Request
from models.asking import KEY, KEY_VARIABLES
from proctor.domain.errors import ModelUnavailableError, NotFoundError, ProviderFaultError, UserError
from proctor.domain.listed_models import ListedModel, ModelLists, StoredModelList
from proctor.models.listing import FRESH_SECONDS, list_models
from proctor.stores.database import Database
from proctor.stores.model_lists import ModelListStore

OPENROUTER = {
    "data": [
        {"id": "b/two", "context_length": 8192, "pricing": {"prompt": "0.00000015", "completion": "0.0000006"}},
        {"id": "a/one", "context_length": 4096, "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "c/free", "pricing": {"prompt": "0", "completion": "0"}},
    ]
}


class Catalogue:
    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.document: Any = OPENROUTER
        self.status = 200
        self.server = Loopback(self._handle)

    async def _handle(self, exchange: Exchange) -> None:
        self.requests.append(exchange.request)
        await exchange.reply_json(self.status, self.document)


@pytest.fixture
def catalogue() -> Iterator[Catalogue]:
    made = Catalogue()
    with made.server:
        yield made


def listed(catalogue: Catalogue, provider: str, lists: ModelLists | None = None, key: str = KEY) -> StoredModelList:
    names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY", "HF_TOKEN")
    variable = next((name for name in KEY_VARIABLES.get(provider, ()) if name in names), None)
    keys, url = dict.fromkeys(names, key), catalogue.server.url
    return asyncio.run(list_models(provider, keys, base_url=url, auth_variable=variable, lists=lists))


def test_names_context_and_prices_are_read(catalogue: Catalogue) -> None:
    assert listed(catalogue, "openrouter").models == (
        ListedModel("a/one", 4096),
        ListedModel("b/two", 8192, "0.15", "0.6"),
        ListedModel("c/free", None, "0", "0"),
    )
    assert catalogue.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("provider", "document", "path", "header"),
    [
        ("openai", {"data": [{"id": "m", "object": "model"}]}, "/models", "authorization"),
        ("vllm", {"data": [{"id": "m", "max_model_len": 7}]}, "/models", None),
        ("ollama", {"data": [{"id": "m"}]}, "/models", None),
        ("anthropic", {"data": [{"id": "m", "type": "model"}], "has_more": False}, "/v1/models", "x-api-key"),
        ("google", {"models": [{"name": "models/m", "inputTokenLimit": 7}]}, "/models", "x-goog-api-key"),
    ],
)
def test_each_provider_is_asked_in_its_own_way(
    catalogue: Catalogue, provider: str, document: Any, path: str, header: str | None
) -> None:
    catalogue.document = document
    assert [model.name for model in listed(catalogue, provider).models] == ["m"]
    request = catalogue.requests[0]
    assert (request.method, request.path) == ("GET", path)
    holders = [name for name, value in request.headers.items() if KEY in value]
    assert holders == ([header] if header else [])


def test_a_list_is_believed_for_a_day_and_each_key_has_its_own(catalogue: Catalogue, database: Database) -> None:
    lists = ModelListStore(database)
    first = listed(catalogue, "openrouter", lists)
    assert listed(catalogue, "openrouter", lists) == first
    assert len(catalogue.requests) == 1
    listed(catalogue, "openrouter", lists, key="sk-another")
    assert len(catalogue.requests) == 2
    with database.connection() as connection:
        rows = [tuple(row) for row in connection.execute("SELECT * FROM model_lists").fetchall()]
        assert len(rows) == 2
        assert KEY not in str(rows)
        connection.execute("UPDATE model_lists SET fetched_at = ?", [time.time() - FRESH_SECONDS + 60])
    listed(catalogue, "openrouter", lists)
    assert len(catalogue.requests) == 2
    with database.connection() as connection:
        connection.execute("UPDATE model_lists SET fetched_at = ?", [time.time() - FRESH_SECONDS - 1])
    listed(catalogue, "openrouter", lists)
    assert len(catalogue.requests) == 3


def test_what_goes_wrong_is_said(catalogue: Catalogue) -> None:
    catalogue.status, catalogue.document = 401, {"error": {"message": "no"}}
    with pytest.raises(ModelUnavailableError, match="Check the key in OPENAI_API_KEY"):
        listed(catalogue, "openai")
    catalogue.status, catalogue.document = 200, {"odd": 1}
    with pytest.raises(ProviderFaultError, match="unknown form"):
        listed(catalogue, "openai")
    with pytest.raises(NotFoundError, match="demo has no list of models"):
        listed(catalogue, "demo")
    with pytest.raises(UserError, match="OPENAI_API_KEY"):
        asyncio.run(list_models("openai", {}))


@pytest.mark.parametrize(
    ("pricing", "rates"),
    [
        ({"prompt": "0.000001", "completion": "0.000002"}, ("1", "2", None, None, None)),
        (
            {"prompt": "0.000001", "completion": "0.000002", "request": "0", "internal_reasoning": "0.000003",
             "input_cache_read": "0.0000001", "input_cache_write": "0.00000125"},
            ("1", "2", "0.1", "1.25", "3"),
        ),
        ({"prompt": "0", "completion": "0", "internal_reasoning": "0"}, ("0", "0", None, None, None)),
        ({"prompt": "0.000001", "completion": "0.000002", "request": "0.01"}, (None,) * 5),
        ({"prompt": "Infinity", "completion": "NaN"}, (None,) * 5),
    ],
)  # fmt: skip
def test_a_price_is_listed_with_its_parts_or_not_at_all(
    catalogue: Catalogue, pricing: dict[str, str], rates: tuple[str | None, ...]
) -> None:
    catalogue.document = {"data": [{"id": "x", "pricing": pricing}]}
    [found] = listed(catalogue, "openrouter").models
    assert astuple(found)[2:7] == rates
