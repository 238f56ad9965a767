"""What using the library looks like."""


def test_works_out_a_small_sheet(program):
    sheet = program.module.Sheet()
    sheet.set("A1", "3")
    sheet.set("A2", "4.5")
    sheet.set("B1", "=SUM(A1:A2) * 2")
    assert sheet.get("B1") == 15.0
    sheet.set("A1", "0.5")
    assert sheet.get("B1") == 10.0


def test_division_by_zero(program):
    sheet = program.module.Sheet()
    sheet.set("C3", "=1/(A1-B1)")
    assert sheet.get("C3") == "#DIV0"
    assert sheet.error("C3") == "#DIV0"
    sheet.set("A1", "4")
    assert (sheet.get("C3"), sheet.error("C3")) == (0.25, None)


def test_a_cell_that_names_itself(program):
    sheet = program.module.Sheet()
    sheet.set("A1", "=A1+1")
    assert sheet.error("A1") == "#CYCLE"
