"""A budget of a thousand cells whose first figure changes again and again; every value asked for is compared."""

import math


def total(first: int) -> float:
    """C300 when A1 is the given number."""
    figures = [first, *range(2, 301)]
    return sum(figure * 1.19 + sum(figures[: min(row, 40)]) for row, figure in enumerate(figures, 1))


TOTALS = [total(turn) for turn in range(12)]


def work(program):
    sheet = program.module.Sheet()
    for row in range(1, 301):
        sheet.set(f"A{row}", str(row))
        sheet.set(f"B{row}", f"=A{row}*1.19+SUM(A1:A{min(row, 40)})")
        sheet.set(f"C{row}", f"=B{row}" if row == 1 else f"=C{row - 1}+B{row}")
    for turn, right in enumerate(TOTALS):
        sheet.set("A1", str(turn))
        found = sheet.get("C300")
        assert isinstance(found, float) and math.isclose(found, right, rel_tol=1e-9), f"C300 is {found}, not {right}"
    assert sheet.error("C300") is None
