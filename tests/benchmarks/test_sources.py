"""The same rows from every kind of source."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor.benchmarks.jsonl import MAX_LINE, read_jsonl
from proctor.benchmarks.mapping import Mapper
from proctor.benchmarks.rows import BadRow, StreamedRows
from proctor.benchmarks.samples import MappedSamples
from proctor.benchmarks.schema import Fields
from proctor.benchmarks.sources import open_rows
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError

Write = Callable[..., Path]
Load = Callable[..., Benchmark]

ROWS = [
    {"id": "a", "input": "Was ist «1 + 1»?\nSag's.", "target": "2", "category": "sum"},
    {"id": "b", "input": 'Ça va, "oui"?', "target": "oui", "category": "talk"},
    {"id": "c", "input": "日本の首都は？", "target": "東京", "category": "geo"},
]


def written(write: Write, kind: str) -> str:
    """ROWS as a file of that kind; its name."""
    if kind == "csv":
        import csv

        path = write("rows.csv", "")
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(ROWS[0]))
            writer.writeheader()
            writer.writerows(ROWS)
    elif kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.Table.from_pylist(ROWS), write("rows.parquet", ""))
    elif kind == "json":
        write("rows.json", json.dumps({"about": "x", "data": ROWS}, indent=1))
    elif kind == "jsonl.gz":
        write("rows.jsonl.gz", gzip.compress("".join(json.dumps(row) + "\n" for row in ROWS).encode()))
    elif kind == "python":
        write("rows_of_test.py", f"def rows():\n    yield from {ROWS!r}\n")
        return "python://rows_of_test:rows"
    else:
        write("rows.jsonl", "\ufeff" + "\r\n\n".join(json.dumps(row) for row in ROWS))
    return f"rows.{kind}"


KINDS = ["jsonl", "jsonl.gz", "json", "csv", "parquet", "python"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_content_has_the_same_fingerprint_in_every_format(kind: str, write: Write, load: Load) -> None:
    samples = load(written(write, kind)).samples
    assert [sample.id for sample in samples] == ["a", "b", "c"]
    assert [sample.input for sample in samples] == [row["input"] for row in ROWS]
    assert samples.fingerprint().count == 3
    assert samples.fingerprint().digest == _digest_by_hand()
    assert [sample.target for sample in samples.at([2, 0, 2])] == ["東京", "2", "東京"]


def _digest_by_hand() -> str:
    """The documented digest, from the standard library: any machine and version gives this."""
    made = blake2b(digest_size=16)
    for row in ROWS:
        values = [row["id"], row["input"], row["target"], [], row["category"], None, [], {}, {}]
        made.update(json.dumps(values, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode() + b"\n")
    return made.hexdigest()


@pytest.mark.parametrize("kind", KINDS)
def test_asking_for_a_row_that_is_not_there_is_an_error(kind: str, write: Write, load: Load) -> None:
    with pytest.raises(BenchmarkError, match="no row 4"):
        list(load(written(write, kind)).samples.at([3]))


def test_rows_without_an_id_are_numbered_alike_in_every_format(write: Write, load: Load) -> None:
    write("a.jsonl", '\n\n{"input": "x", "target": "1"}\n\n{"input": "y", "target": "2"}\n')
    write("a.csv", "input,target\nx,1\ny,2\n")
    first, second = load("a.jsonl").samples, load("a.csv").samples
    assert [sample.id for sample in first] == [sample.id for sample in second] == ["1", "2"]
    assert [sample.id for sample in first.at([1])] == ["2"]
    assert first.fingerprint() == second.fingerprint()


def test_every_part_of_a_sample_and_their_order_count_for_the_fingerprint(write: Write, load: Load) -> None:
    row: dict[str, Any] = {"id": "1", "input": "a", "target": "b", "category": "c", "tags": {"t": "x"}, "extra": 1}
    other = {"id": "2", "input": "a", "target": "b"}
    variants = [[row, other], [other, row], [row]]
    variants += [[{**row, key: "changed" if key != "tags" else {"t": "y"}}, other] for key in row]
    digests = []
    for number, rows in enumerate(variants):
        write(f"{number}.jsonl", rows)
        digests.append(load(f"{number}.jsonl").samples.fingerprint().digest)
    assert len(set(digests)) == len(variants)


BAD_LINES = [
    (b'{"input": "x", "target": "y"', "line 2: it is not valid JSON"),
    (b'["x"]', "line 2: a row is an object in braces, not a list"),
    (b'{"input": "\xff", "target": "y"}', r"line 2: it is not UTF-8 \(byte 12 of the line is 0xff\)"),
    (b'{"input": "\x00", "target": "y"}', "line 2: it holds NUL bytes"),
    (b'{"input": "\\u0000", "target": "y"}', "line 2: it holds a NUL character"),
    (b'{"inptu": "x", "target": "y"}', "line 2: there is no field 'input' for the input. Did you mean 'inptu'?"),
    (b'{"input": 5, "target": "y"}', "line 2: the input must be text or a list of messages, not 5"),
    (b'{"input": "x", "target": {"a": 1}}', "line 2: the target must be text"),
    (b'{"input": "x", "target": []}', "line 2: the list of targets is empty"),
    (b'{"input": "x"}', "line 2: there is no target, and the scorer 'exact' needs one"),
    (b'{"input": "x", "target": "y", "id": 1.5}', "line 2: the id must be text or a whole number, not 1.5"),
    (b'{"input": "x", "target": "y", "category": ["a"]}', "line 2: the category must be text"),
    (b'{"input": "x", "target": "y", "tags": "a"}', "line 2: the tags must be a mapping"),
    (b'{"input": [{"role": "usr", "content": "x"}], "target": "y"}', "line 2: the input: 'usr' is no role"),
]


@pytest.mark.parametrize(("line", "message"), BAD_LINES)
def test_a_bad_row_is_reported_with_its_line_before_anything_is_asked(
    line: bytes, message: str, write: Write, load: Load
) -> None:
    good = b'{"input": "x", "target": "y"}\n'
    write("bad.jsonl", good + line + b"\n" + good)
    samples = load("bad.jsonl").samples
    with pytest.raises(BenchmarkError, match=rf"bad\.jsonl: 1 bad row of 3: {message}".replace("?", r"\?")):
        samples.fingerprint()
    if "no target" not in message:
        with pytest.raises(BenchmarkError, match="1 bad row of 3"):
            list(samples)


@pytest.mark.parametrize("name", ["id", "input", "target", "category", "group"])
def test_a_nul_in_any_text_that_is_stored_by_itself_is_refused_and_the_letters_of_its_escape_are_not(name: str) -> None:
    def samples_with(text: str) -> MappedSamples:
        row = {"input": "x", "target": "y", name: text}
        return MappedSamples(StreamedRows("rows", "row", lambda: [(1, row)]), Mapper(Fields()))

    assert samples_with("a\\u0000").fingerprint().count == 1
    with pytest.raises(BenchmarkError, match="NUL character"):
        samples_with("a\0").fingerprint()


def test_the_first_ten_bad_rows_are_listed_and_all_are_counted(write: Write, load: Load) -> None:
    write("bad.jsonl", b'{"input": "x", "target": "y"}\n' + b"{oops}\n" * 25)
    with pytest.raises(BenchmarkError) as error:
        load("bad.jsonl").samples.fingerprint()
    text = str(error.value)
    assert "25 bad rows of 26" in text
    assert "lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11: it is not valid JSON" in text
    assert text.endswith("and 15 more.")


def test_a_line_of_absurd_length_is_a_bad_row_and_the_next_one_is_read(write: Write, tmp_path: Path) -> None:
    write("huge.jsonl", b'{"input": "' + b"x" * (2 * MAX_LINE) + b'"}\n{"input": "fine"}\n')
    (first, second) = read_jsonl("huge.jsonl", tmp_path)
    assert isinstance(first[1], BadRow)
    assert "longer than" in first[1].reason
    assert second == (2, {"input": "fine"})


@pytest.mark.parametrize("name", ["twice.jsonl", "twice.csv"])
def test_an_id_that_is_there_twice_is_named_with_both_lines(name: str, write: Write, load: Load) -> None:
    if name.endswith("csv"):
        write(name, 'id,input,target\nx,"two\nlines",1\ny,b,2\nx,c,3\n')
    else:
        write(name, '{"id":"x","input":"a","target":"1"}\n\n\n{"id":"y","input":"b","target":"2"}\n'
                    '{"id":"x","input":"c","target":"3"}\n')  # fmt: skip
    lines = "line 2 and line 5" if name.endswith("csv") else "line 1 and line 5"
    with pytest.raises(BenchmarkError, match=f"the id 'x' is there twice, on {lines}"):
        load(name).samples.fingerprint()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"input,input\nx,y\n", "column 'input' is there twice"),
        ("a.csv", b"input,target\nx\ny,1\n", "line 2: it has 1 values, the header has 2 names"),
        ("a.csv", b"input,target\nx,\xff\n", "line 2: column 'target' is not UTF-8"),
        ("a.csv", b'input,target\n"x,1\n', "line 2: it is not valid CSV"),
        ("a.json", b'{"a": [], "b": []}', "expected a list of objects"),
        ("a.json", b'[\n{"input": "x",}]', "a.json:2: this is not valid JSON"),
        ("a.json", b'[{"input": "x", "target": "1"}, 7]', "1 bad row of 2: row 2: a row is an object"),
        ("a.jsonl", b"\n\n", "holds no rows"),
        ("a.jsonl.gz", b"not gzip", "not a whole gzip file"),
        ("a.jsonl.gz", gzip.compress(b'{"input": "x"}\n' * 9999)[:-30], "not a whole gzip file"),
        ("a.parquet", b"not parquet", "cannot be read as Parquet"),
        ("a.txt", b"x", "ends in none of"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_one_clear_error(
    name: str, content: bytes, message: str, write: Write, load: Load
) -> None:
    write(name, content)
    with pytest.raises(BenchmarkError, match=message):
        load(name).samples.fingerprint()


@pytest.mark.parametrize("name", ["no.jsonl", "no.json", "no.csv", "no.parquet", "no.jsonl.gz"])
def test_a_missing_data_file_is_named(name: str, load: Load) -> None:
    with pytest.raises(BenchmarkError, match=f"There is no data file {name}"):
        load(name).samples.fingerprint()


def test_a_scheme_that_is_not_there_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match=r"No source 'pyhton'.*Did you mean 'python'"):
        open_rows("pyhton://a:b", tmp_path)


@pytest.mark.untraced
def test_a_large_file_is_not_held_in_memory(tmp_path: Path, write: Write, load: Load) -> None:
    count = 50_000
    with (tmp_path / "large.jsonl").open("w") as file:
        for number in range(count):
            file.write(f'{{"id": "sample-{number}", "input": "{"q" * 200} {number}", "target": "{number}"}}\n')
    samples = load("large.jsonl").samples
    tracemalloc.start()
    try:
        assert samples.fingerprint().count == count
        assert [sample.id for sample in samples.at([count - 1, 5])] == [f"sample-{count - 1}", "sample-5"]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40 * count  # the file is more than 250 bytes a row; offsets and id hashes are 16


def test_a_file_that_changes_in_between_is_refused(write: Write, load: Load) -> None:
    path = write("a.jsonl", [{"input": "x", "target": "1"}])
    samples = load("a.jsonl").samples
    samples.fingerprint()
    path.write_text('{"input": "changed", "target": "1"}\n')
    for again in (lambda: list(samples), lambda: list(samples.at([0]))):
        with pytest.raises(BenchmarkError, match="was changed while it was in use"):
            again()


@given(st.binary(max_size=300))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_make_the_reader_fail_otherwise(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "any.jsonl").write_bytes(content)
    rows = read_jsonl("any.jsonl", tmp_path)
    read = list(rows)
    assert [line for line, _ in rows.at(range(len(read)))] == [line for line, _ in read]
    assert list(rows.at(range(len(read)))) == read


def test_rows_found_again_have_the_lines_they_had(write: Write, tmp_path: Path) -> None:
    write("gaps.jsonl", '\n{"n": 1}\n{"n": 2}\n \n\n{"n": 3}\n\n{"n": 4}')
    rows = read_jsonl("gaps.jsonl", tmp_path)
    assert [(line, row["n"]) for line, row in rows.at([3, 0, 2, 1])] == [(8, 4), (2, 1), (6, 3), (3, 2)]
    assert [line for line, _ in rows] == [2, 3, 6, 8]


def test_a_function_is_called_anew_each_time_and_may_give_samples(write: Write, load: Load) -> None:
    write(
        "counted.py",
        "from proctor.domain.sample import Sample\ncalls = []\n"
        "def rows():\n    calls.append(1)\n    return [Sample(str(i), f'q{i}', 't') for i in range(3)]\n",
    )
    samples = load("python://counted:rows").samples
    assert [s.id for s in samples] == [s.id for s in samples] == ["0", "1", "2"]
    assert len(sys.modules["counted"].calls) == 2


def test_two_folders_may_each_have_a_module_of_the_same_name(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same_name.py").write_text(f"def rows():\n    return [{{'input': '{name}'}}]\n")
    first, second = (open_rows("python://same_name:rows", tmp_path / name) for name in ("one", "two"))
    assert [list(first), list(second)] == [[(1, {"input": "one"})], [(1, {"input": "two"})]]


@pytest.mark.parametrize(
    ("code", "reference", "message"),
    [
        ("", "python://fm1:rows", "the module has no 'rows'"),
        ("def row(): pass", "python://fm2:rows", "Did you mean 'row'"),
        ("rows = 3", "python://fm3:rows", "is not a function"),
        ("def rows(): return 3", "python://fm4:rows", "must give a list or another iterable of rows, not int"),
        ("def rows():\n yield {}\n 1/0", "python://fm5:rows", "failed after 1 rows: ZeroDivisionError"),
        ("def rows(): return [1]", "python://fm6:rows", "row 1: a row is a mapping or a Sample, not int"),
        ("1/0", "python://fm7:rows", "importing it failed: ZeroDivisionError"),
        ("", "python://not_there_at_all:rows", "No module named 'not_there_at_all'"),
        ("", "python://fm8", "names no function"),
    ],
)
def test_a_function_that_cannot_be_used_is_one_clear_error(
    code: str, reference: str, message: str, write: Write, load: Load
) -> None:
    write(f"{reference.removeprefix('python://').partition(':')[0]}.py", code) if "not_there" not in reference else None
    with pytest.raises(BenchmarkError, match=message):
        load(reference).samples.fingerprint()


def test_a_file_of_a_package_is_read_and_nothing_outside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "packed_rows"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rows.jsonl").write_text('{"input": "x"}\n')
    (tmp_path / "secret.jsonl").write_text('{"input": "y"}\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    assert list(open_rows("package://packed_rows/rows.jsonl", tmp_path)) == [(1, {"input": "x"})]
    for wrong in ("package://packed_rows/../secret.jsonl", "package://packed_rows/no.jsonl"):
        with pytest.raises(BenchmarkError, match="has no file"):
            open_rows(wrong, tmp_path)
    with pytest.raises(BenchmarkError, match="there is no package 'no_such_package'"):
        open_rows("package://no_such_package/rows.jsonl", tmp_path)


def test_parquet_without_pyarrow_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(BenchmarkError, match=r"pip install 'proctor\[parquet\]'"):
        open_rows("x.parquet", tmp_path)
