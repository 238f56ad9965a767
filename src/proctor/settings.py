"""The environment, read once into one frozen object."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

OFF = frozenset({"", "0", "false", "no", "off"})


class Settings(Struct, frozen=True):
    home: Path
    """Where results are kept when no database is named."""
    database_url: str
    data: Path | None = None
    """A folder with benchmark data, used instead of the hub."""
    prices: Path | None = None
    """A file with prices that win over the list."""
    is_offline: bool = False
    """Whether nothing beyond this machine may be connected to."""

    @property
    def lists(self) -> Path:
        """Where the lists are kept that providers gave of their models."""
        return self.home / "cache"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        home = Path(environment.get("PROCTOR_HOME") or Path("~/.proctor").expanduser()).absolute()
        url = environment.get("PROCTOR_DATABASE_URL") or f"sqlite:///{home / 'proctor.db'}"
        data = environment.get("PROCTOR_DATA")
        prices = Path(environment.get("PROCTOR_PRICES") or home / "prices.yaml")
        is_wanted = "PROCTOR_PRICES" in environment or prices.is_file()
        return cls(
            home=home,
            database_url=url,
            data=Path(data) if data else None,
            prices=prices if is_wanted else None,
            is_offline=environment.get("PROCTOR_OFFLINE", "").strip().lower() not in OFF,
        )
