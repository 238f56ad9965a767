from hypothesis import given, settings
from hypothesis import strategies as st

CELLS = st.text(st.characters(codec="utf-8", categories=("L", "N", "S"), max_codepoint=0xFFFF), min_size=1, max_size=8)
TABLES = st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=5))


@settings(max_examples=15)
@given(TABLES)
def test_every_cell_is_found_again(program, table):
    done = program.run(stdin="\n".join("\t".join(row) for row in table) + "\n")
    widths = [max(map(len, column)) for column in zip(*table)]
    lines = done.out.split("\n")
    assert lines.pop() == ""
    for line, row in zip(lines, table, strict=True):
        place = 0
        for cell, width in zip(row, widths):
            assert line[place : place + width].rstrip(" ") == cell
            place += width + 2


@settings(max_examples=10)
@given(TABLES, st.integers(2, 6))
def test_no_column_is_wider_than_asked(program, table, width):
    done = program.run("--width", str(width), stdin="\n".join("\t".join(row) for row in table) + "\n")
    lines = [line.rstrip(" ") for line in done.out.split("\n")[:-1]]
    for line, row in zip(lines, table, strict=True):
        assert len(line) <= len(row) * width + 2 * (len(row) - 1)
        assert line.startswith(row[0] if len(row[0]) <= width else row[0][: width - 1] + "…")
