"""Finding a model by its spec, and the list of providers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from models.asking import make
from proctor import plugins
from proctor.domain.errors import NotFoundError, PlanError, UserError
from proctor.models.registry import list_providers


def test_an_unknown_provider_gets_a_suggestion() -> None:
    with pytest.raises(NotFoundError) as caught:
        make("opnai/gpt-5")
    assert str(caught.value) == "No model provider 'opnai'. Did you mean 'openai'? Run 'proctor models'."
    assert caught.value.exit_code == 2
    with pytest.raises(NotFoundError, match=r"^No model provider 'xyzzy'. Run 'proctor models'.$"):
        make("xyzzy/m")


def test_an_unknown_setting_gets_a_suggestion_among_settings_and_sampling_options() -> None:
    environment = {"OPENAI_API_KEY": "k"}
    with pytest.raises(PlanError, match=r"openai has no setting 'strem'. Did you mean 'stream'"):
        make("openai/m?strem=true", environment)
    with pytest.raises(PlanError, match="Did you mean 'temperature'"):
        make("openai/m?temprature=0", environment)
    with pytest.raises(PlanError, match="'stream' must be true or false, not 'maybe'"):
        make("openai/m?stream=maybe", environment)
    with pytest.raises(PlanError, match="'limit_field' must be one of 'max_tokens', 'max_completion_tokens'"):
        make("openai/m?limit_field=max", environment)


def test_every_provider_is_listed_with_its_key_and_what_it_can_do() -> None:
    listed = {status.provider.name: status for status in list_providers({"OPENAI_API_KEY": "k"})}
    assert list(listed) == plugins.names("models")
    assert listed["openai"].has_key is True
    assert listed["openai"].provider.key_variable == "OPENAI_API_KEY"
    assert listed["openai"].provider.capabilities.streaming
    assert listed["demo"].has_key is None
    assert not listed["demo"].provider.capabilities.images
    assert all(status.provider.description for status in listed.values())
    without = {status.provider.name: status.has_key for status in list_providers({"OPENAI_API_KEY": " "})}
    assert without["openai"] is False


def test_listing_providers_imports_nothing_heavy() -> None:
    code = (
        "import sys; from proctor.models.registry import list_providers; list_providers({});"
        "heavy = {'openai', 'anthropic', 'grpc', 'aiohttp', 'numpy', 'pypdfium2', 'jinja2', 'httpx2'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("model", ["openai/m", "http/?url=http://models.test/ask"])
def test_a_proxy_that_cannot_be_used_is_refused_before_anything_is_asked(model: str) -> None:
    environment = {"OPENAI_API_KEY": "k", "ALL_PROXY": "ftp://user:word@proxy"}
    with pytest.raises(UserError, match=r"the proxy in ALL_PROXY cannot be used, it must be scheme://") as caught:
        make(model, environment)
    assert str(caught.value).startswith(model.partition("?")[0])
    assert "word" not in str(caught.value)
    for elsewhere in ({"NO_PROXY": "*"}, {"HTTPS_PROXY": "http://proxy", "HTTP_PROXY": "proxy"}):
        make(model, {**environment, **elsewhere})
    for here in ("openai/m?base_url=http://127.0.0.1:1/v1", "grpc/models.test:5", "demo/strong"):
        make(here, environment)
