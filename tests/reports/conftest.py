from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.stores.database import Database
from stores.parts import new_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = new_database(tmp_path)
    yield opened
    opened.dispose()
