"""Variants of a benchmark: what they say is laid over the file they stand in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def laid_over(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The file in one variant: mappings are merged, everything else is replaced; it has no variants of its own."""
    plain = {key: value for key, value in values.items() if key not in ("variant", "variants")}
    return {**_merged(plain, values["variants"][name]), "variant": name}


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(below)
    for key, value in above.items():
        under = made.get(key)
        made[key] = _merged(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return made
