import pytest


@pytest.mark.parametrize(
    "arguments",
    [
        ["--fast"],
        ["--separator"],
        ["--separator", ""],
        ["--right", "0"],
        ["--right", "x"],
        ["--right", "1,,2"],
        ["--right", "-1"],
        ["--right", ""],
        ["--width", "1"],
        ["--width", "ten"],
        ["--width"],
        ["a.txt", "b.txt"],
    ],
)
def test_wrong_command_lines(program, arguments):
    files = {"a.txt": "a\n", "b.txt": "b\n"}
    assert program.run("a.txt", files=files).out == "a\n"
    done = program.run(*arguments, stdin="a\tb\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.strip()


def test_missing_files(program):
    done = program.run("nowhere.txt", stdin="a\n")
    assert (done.code, done.out) == (2, "")
    assert "nowhere.txt" in done.err
    assert program.run(stdin="a\n").code == 0
