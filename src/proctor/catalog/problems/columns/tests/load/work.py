"""Forty thousand rows; what is printed is compared as a whole."""

CELLS = [(f"row {n}", str(n * 37 % 1009), "x" * (n % 23), "end") for n in range(40_000)]
ROWS = "".join("\t".join(cells) + "\n" for cells in CELLS)


def expected() -> str:
    shown = [[cell if len(cell) <= 12 else cell[:11] + "…" for cell in cells] for cells in CELLS]
    first, second, third, _ = (max(map(len, column)) for column in zip(*shown))
    lines = [f"{a:<{first}}  {b:>{second}}  {c:<{third}}  {d}" for a, b, c, d in shown]
    dashes = "  ".join("-" * width for width in (first, second, third, 3))
    return "\n".join([lines[0], dashes, *lines[1:]]) + "\n"


EXPECTED = expected()


def work(program):
    done = program.run("--right", "2", "--header", "--width", "12", stdin=ROWS, timeout=60)
    assert done.code == 0, done.err
    assert done.out == EXPECTED, "the columns are not as they should be"
