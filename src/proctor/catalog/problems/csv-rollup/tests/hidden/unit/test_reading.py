import csv
import io


def rollup(program, text, *arguments, by="k", total="v"):
    """The printed table without its header: {value: the other fields}."""
    done = program.run("--by", by, "--sum", total, *arguments, stdin=text)
    assert done.code == 0, done.err
    header, *rows = csv.reader(io.StringIO(done.out, newline=""), strict=True)
    assert header == [by, "count", "sum", "min", "max"]
    return {row[0]: row[1:] for row in rows}


def test_counts_rows_of_each_value(program):
    found = rollup(program, "k,v,k\na,1,z\nb,2,z\na,1,z\n a,1,z\n__proto__,1,z\nA,1,z\na,1,z\n,1,z\n")
    assert {value: fields[0] for value, fields in found.items()} == {
        "a": "3", "b": "1", " a": "1", "__proto__": "1", "A": "1", "": "1"
    }  # fmt: skip


def test_a_table_without_rows(program):
    assert rollup(program, "k,v\n") == {}
    assert rollup(program, "v,other,k") == {}


def test_reads_doubled_quotes(program):
    found = rollup(program, 'k,note,v\n"say ""hi""",x,1\n"""",x,1\n"",x,1\n6" pipe,x,1\n')
    assert set(found) == {'say "hi"', '"', "", '6" pipe'}
    found = rollup(program, '"k",note,"v"\n"a\nb,c","1\r\n\r\n2","5"\n')
    assert found == {"a\nb,c": ["1", "5", "5", "5"]}


def test_accepts_both_line_ends(program):
    for text in ("k,v\r\na,1\r\nb,2\r\n", "\nk,v\na,1\n\n\nb,2", "k,v\r\n\r\na,1\nb,2\n\n"):
        assert rollup(program, text) == {"a": ["1"] * 4, "b": ["1", "2", "2", "2"]}, text


def test_ignores_a_byte_order_mark(program):
    assert rollup(program, b"\xef\xbb\xbfk,v\na,1\n") == {"a": ["1"] * 4}
    assert rollup(program, b'\xef\xbb\xbf"k",v\na,1\n') == {"a": ["1"] * 4}


def test_finds_least_and_greatest(program):
    found = rollup(program, "k,v\na,9\na,10\na,-2\na,-10.50\na,9.90\nb,0.00\nb,007.10\nb,-0\n")
    assert found["a"][2:] == ["-10.5", "10"]
    assert found["b"][2:] == ["0", "7.1"]


def test_leaves_out_empty_amounts(program):
    found = rollup(program, 'k,v\na,5\na,\na,""\na,7\n')
    assert found == {"a": ["4", "12", "5", "7"]}


def test_a_row_of_empty_amounts(program):
    assert rollup(program, "k,v\na,\nb,1\n")["a"] == ["1", "0", "", ""]
