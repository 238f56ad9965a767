def work(program):
    program.write("large.txt", "word " * 200_000)
    for _ in range(3):
        assert program.run("large.txt").out == "200000\n"
