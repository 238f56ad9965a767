import csv
import io
from decimal import Context, Decimal

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

texts = st.text(st.sampled_from('ab",;\r\n é'), max_size=6)
amounts = st.builds(
    "{}{}{}".format, st.sampled_from(["", "-"]), st.integers(0, 10**22), st.sampled_from(["", ".5", ".10", ".000", ".00000003"])
)


def table(rows):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("note", "k", "v"), *rows])
    return out.getvalue()


def rollup(program, rows):
    done = program.run("--by", "k", "--sum", "v", stdin=table(rows))
    assert done.code == 0, done.err
    return list(csv.reader(io.StringIO(done.out, newline=""), strict=True))[1:]


@settings(max_examples=8, phases=[Phase.generate])
@given(st.lists(st.tuples(texts, texts), max_size=12))
def test_reads_whatever_was_quoted(program, rows):
    found = rollup(program, [(note, value, "1") for note, value in rows])
    expected = [value for _, value in rows]
    assert {row[0]: int(row[1]) for row in found} == {value: expected.count(value) for value in expected}


@settings(max_examples=8, phases=[Phase.generate])
@given(st.lists(amounts, min_size=1, max_size=12))
def test_any_amounts_add_up(program, values):
    context = Context(prec=60)
    total = Decimal(0)
    for value in values:
        total = context.add(total, Decimal(value))
    [row] = rollup(program, [("", "x", value) for value in values])
    text = f"{total:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    assert row[2] == ("0" if total == 0 else text)
