from hypothesis import Phase, given, settings
from hypothesis import strategies as st

parts = st.tuples(*[st.none() | st.integers(0, 200)] * 3).filter(lambda found: any(n is not None for n in found))


def seconds_of(found):
    return sum((n or 0) * unit for n, unit in zip(found, (3600, 60, 1)))


def clock(seconds):
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


@settings(max_examples=8, phases=[Phase.generate])
@given(st.lists(parts, min_size=1, max_size=40))
def test_durations_add_up_whatever_they_are(program, found):
    amounts = ["".join(f"{n}{unit}" for n, unit in zip(one, "hms") if n is not None) for one in found]
    done = program.run(stdin="".join(f"{amount} x\n" for amount in amounts))
    # Compared by minutes and seconds, and by hours within a day: how long hours are printed is another requirement.
    hours, minutes, seconds = done.out.splitlines()[0].split(" ")[0].split(":")
    total = sum(seconds_of(one) for one in found)
    assert (int(hours) % 24, int(minutes), int(seconds)) == (total // 3600 % 24, total // 60 % 60, total % 60)


@settings(max_examples=8, phases=[Phase.generate])
@given(st.dictionaries(st.text("abcXYZ-", min_size=1, max_size=4), st.integers(0, 86_399), min_size=1, max_size=12))
def test_any_sheet_is_printed_in_order(program, times):
    done = program.run(stdin="".join(f"{seconds}s {name}\n" for name, seconds in times.items()))
    expected = sorted(times.items(), key=lambda entry: (-entry[1], entry[0]))
    assert done.out.splitlines()[:-1] == [f"{clock(seconds)} {name}" for name, seconds in expected]
