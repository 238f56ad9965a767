"""What to type next."""

from __future__ import annotations

from typing import Any

from proctor.domain.run import COST_LIMIT


def resume_command(document: dict[str, Any]) -> str:
    """Goes on with a run; one that may spend no more needs another limit first, or it would stop again at once."""
    is_out_of_money = (document["error"] or "").startswith(COST_LIMIT)
    return f"proctor resume {document['run_id']}{' --max-cost USD' if is_out_of_money else ''}"
