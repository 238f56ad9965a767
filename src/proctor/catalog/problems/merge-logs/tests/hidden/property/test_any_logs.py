import json
from datetime import datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1))


@settings(max_examples=12)
@given(st.lists(MOMENTS, min_size=1, max_size=12), st.integers(1, 3), st.randoms(use_true_random=False))
def test_any_split_merges_to_the_same(program, moments, count, random):
    moments = sorted(set(moments))
    lines = [json.dumps({"time": moment.isoformat() + "Z"}) + "\n" for moment in moments]
    files = [""] * count
    for item in lines:
        files[random.randrange(count)] += item
    names = [f"{number}.log" for number in range(count)]
    done = program.run("merge", *names, files=dict(zip(names, files)))
    assert (done.code, done.err, done.out) == (0, "", "".join(lines))


@settings(max_examples=12)
@given(MOMENTS, st.integers(-720, 720), st.integers(-720, 720), st.sampled_from([-1, 1]))
def test_instants_are_compared_not_texts(program, moment, one, other, step):
    def written(when, minutes):
        return when.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(minutes=minutes))).isoformat()

    first, second = sorted([moment, moment + timedelta(seconds=step)])
    files = {"a": json.dumps({"time": written(second, one), "n": 2}), "b": json.dumps({"time": written(first, other), "n": 1})}
    done = program.run("merge", "a", "b", files=files)
    assert [json.loads(item)["n"] for item in done.out.splitlines()] == [1, 2]


@settings(max_examples=15)
@given(st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=20), max_size=6))
def test_any_garbage_is_survived(program, garbage):
    good = '{"time": "2026-03-01T10:00:00Z"}'
    done = program.run("merge", "a", files={"a": "\n".join([*garbage, good])})
    assert done.out == good + "\n"
    bad = [number for number, text in enumerate(garbage, 1) if text.strip(" \t\r") and text.strip()]
    assert [item.split(": ")[0] for item in done.err.split("\n") if item.startswith("a:")] == [f"a:{number}" for number in bad]
    assert done.code == (1 if bad else 0)
