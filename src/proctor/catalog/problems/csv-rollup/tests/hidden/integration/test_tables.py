import pytest


def run(program, text, *arguments):
    return program.run("--by", "k", "--sum", "v", *arguments, stdin=text)


def names(done):
    assert done.code == 0, done.err
    return [line.split(",")[0].strip('"') for line in done.out.splitlines()[1:]]


def test_keeps_the_order_of_first_occurrence(program):
    values = ["b", "10", "a", "9", "b", "1", "10", "-1", "0"]
    done = run(program, "k,v\n" + "".join(f"{value},1\n" for value in values))
    assert names(done) == ["b", "10", "a", "9", "1", "-1", "0"]


def test_sums_are_exact(program):
    done = run(program, "k,v\n" + "x,0.1\n" * 3 + "y,9007199254740993\ny,0.000000000000000000001\nz,1.50\nz,-1.5\nw,2\nw,8\n")
    sums = {line.split(",")[0].strip('"'): line.split(",")[2].strip('"') for line in done.out.splitlines()[1:]}
    assert sums == {"x": "0.3", "y": "9007199254740993.000000000000000000001", "z": "0", "w": "10"}


def test_quotes_what_needs_quotes(program):
    done = program.run("--by", 'the "k"', "--sum", "v", stdin='v,the "k"\n1,"a,b"\n1,"c\nd"\n1,"e"\n1,f g\n1,"h\ri"\n1,j;k\n1,l"m\n')
    assert done.code == 0
    assert done.out_bytes == (
        b'"the ""k""",count,sum,min,max\n"a,b",1,1,1,1\n"c\nd",1,1,1,1\ne,1,1,1,1\nf g,1,1,1,1\n"h\ri",1,1,1,1\nj;k,1,1,1,1\n"l""m",1,1,1,1\n'
    )


def refused(program, text, number):
    done = run(program, text)
    assert (done.code, done.out) == (1, ""), text
    assert f"record {number}" in done.err


@pytest.mark.parametrize(("text", "number"), [("k,v\na,1\nb\n", 3), ("k,v\na,1,\n", 2), ("k,o,v\na,b,1\nc,d,1,x\ne,f,1\n", 3)])
def test_refuses_a_ragged_record(program, text, number):
    refused(program, text, number)


def test_counts_records_and_not_lines(program):
    refused(program, 'k,v\n\n"a\n\nb",1\n\n\nc,1\nd,1,2\n', 4)


@pytest.mark.parametrize("amount", ["1e3", "+1", " 1", "1.", ".5", "1_000", '"1,000"', "٣"])
def test_refuses_what_is_no_amount(program, amount):
    refused(program, f"k,v\na,1\nb,1\nc,{amount}\n", 4)


@pytest.mark.parametrize(("text", "number"), [('k,v\n"a,1\nb,2\n', 2), ('k,v\na,1\n"b"c,1\n', 3), ('k,v\na,1\n"b" ,1\n', 3)])
def test_refuses_broken_quotes(program, text, number):
    refused(program, text, number)


@pytest.mark.parametrize(
    "arguments",
    [["--by", "k"], ["--sum", "v"], ["--by", "k", "--sum"], ["--by", "k", "--sum", "v", "--delimiter", "::"],
     ["--by", "k", "--sum", "v", "in.csv"], ["--by", "k", "--sum", "v", "--desc"]],
)  # fmt: skip
def test_refuses_wrong_arguments(program, arguments):
    done = program.run(*arguments, stdin="k,v\na,1\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.strip()


def test_uses_another_delimiter(program):
    done = run(program, 'k;v\n"a;b";1\nc,d;2\n', "--delimiter", ";")
    assert done.code == 0
    assert done.out.splitlines()[0].replace('"', "") == "k;count;sum;min;max"
    assert done.out.splitlines()[1].startswith('"a;b";')
    assert "c,d" in done.out
    done = run(program, "k\tv\na\t1\n", "--delimiter", "\t")
    assert done.out.splitlines()[1].replace(chr(34), "") == "a\t1\t1\t1\t1"


def test_sorts_by_sum(program):
    done = run(program, "k,v\na,9\nb,10\nc,9.0\nd,-3\ne,\nf,10.01\n", "--sort")
    assert names(done) == ["f", "b", "a", "c", "e", "d"]
