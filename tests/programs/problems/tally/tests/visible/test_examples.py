def test_counts_standard_input(program):
    done = program.run(stdin="one two  three\n")
    assert (done.code, done.out) == (0, "3\n")
