"""The reference of benchmarks says what the catalogue says."""

from __future__ import annotations

from catalog.reference_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tests/catalog/reference_page.py"
