def work(program):
    lib = program.module
    for _ in range(3):
        lib.total(["0.1"] * 5_000)
