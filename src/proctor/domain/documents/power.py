"""How many samples a comparison needs, or which difference so many samples can show."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from proctor.domain.documents.document import Document


class PowerAnswer(Document, frozen=True):
    """Either `samples` and the difference they detect, or a `difference` and the samples it needs."""

    design: Literal["paired", "unpaired"]
    accuracy: float | None
    discordance: float | None
    discordance_from: str | None
    power: float
    alpha: float
    samples: int | None = None
    detectable_difference: float | UnsetType | None = UNSET
    """None where so many samples can detect no difference."""
    difference: float | None = None
    samples_needed: int | None = None
