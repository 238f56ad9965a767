"""Evaluations as the store gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EvaluationColumns = Mapping[str, Any]
"""An evaluation's columns by name: id, model, benchmark, samples, epochs, and scorers, metrics and options as JSON."""
