from decimal import Decimal


def work(program):
    lib = program.module
    for _ in range(3):
        assert lib.total(["0.1"] * 5_000) == Decimal(500)
