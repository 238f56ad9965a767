"""Forty thousand rows."""


def work(program):
    rows = "".join(f"row {number}\t{number * 37 % 1009}\t{'x' * (number % 23)}\tend\n" for number in range(40_000))
    done = program.run("--right", "2", "--header", "--width", "12", stdin=rows, timeout=60)
    assert done.code == 0
