"""The reference page names every provider, key and setting there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.domain.plan import Sampling
from proctor.models.demo import CHARACTERS
from proctor.models.registry import ProviderStatus, list_providers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "models.md").read_text()


@pytest.mark.parametrize("status", list_providers({}), ids=lambda status: status.provider.name)
def test_a_provider_is_described_with_its_key_address_and_settings(status: ProviderStatus) -> None:
    provider = status.provider
    assert f"| `{provider.name}` |" in PAGE
    assert provider.key_variable is None or f"`{provider.key_variable}`" in PAGE
    assert provider.base_url is None or f"`{provider.base_url}`" in PAGE
    missing = [name for name in provider.settings if f"`{name}`" not in PAGE and f"{name}:" not in PAGE]
    assert missing == []


def test_every_sampling_option_and_demo_character_is_named() -> None:
    assert [name for name in (*Sampling.__struct_fields__, *CHARACTERS) if f"`{name}`" not in PAGE] == []
