"""A budget of a thousand cells whose first figure changes again and again."""


def work(program):
    sheet = program.module.Sheet()
    for row in range(1, 301):
        sheet.set(f"A{row}", str(row))
        sheet.set(f"B{row}", f"=A{row}*1.19+SUM(A1:A{min(row, 40)})")
        sheet.set(f"C{row}", f"=B{row}" if row == 1 else f"=C{row - 1}+B{row}")
    for turn in range(12):
        sheet.set("A1", str(turn))
        sheet.get("C300")
    assert sheet.error("C300") is None
