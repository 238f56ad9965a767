"""A benchmark: what a benchmark file would say, with its rows."""

from __future__ import annotations

PAIRS = {"hot": "cold", "up": "down", "early": "late", "heavy": "light", "wet": "dry", "loud": "quiet"}


def create(count: int = len(PAIRS)) -> dict[str, object]:
    """Words and their opposites; `opposites?count=3` asks for the first three."""
    return {
        "name": "opposites",
        "description": "Words and their opposites.",
        "licence": "CC0-1.0",
        "tags": {"language": "en", "subject": "linguistics", "task": "knowledge", "form": "short"},
        "rows": [
            {"id": word, "input": f"The opposite of {word}, in one word?", "target": opposite}
            for word, opposite in list(PAIRS.items())[:count]
        ],
        "scorers": [{"starts_with": {"ignore_case": True}}],
        "metrics": ["accuracy", "flawless"],
    }
