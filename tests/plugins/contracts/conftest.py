"""Every contract is kept by what is built in and by the example package, which is visible throughout."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _with_example(example: None) -> None:
    """The example package can be used."""
