import pytest


@pytest.mark.parametrize(("first", "second"), [("a b", "c"), ("", "x\ny z")])
def test_counts_files(program, first, second):
    done = program.run("1.txt", "2.txt", files={"1.txt": first, "2.txt": second})
    assert done.out == f"{len(first.split())}\n{len(second.split())}\n"
    assert done.code == 0


def test_says_which_file_is_missing(program):
    done = program.run("gone.txt")
    assert done.code == 2
    assert "gone.txt" in done.err
    assert program.list() == {}
