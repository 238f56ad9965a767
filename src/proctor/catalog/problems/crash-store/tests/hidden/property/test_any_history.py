from hypothesis import Phase, given, settings
from hypothesis import strategies as st

keys = st.sampled_from(["a", "b", "c", "k~"])
changes = st.tuples(st.just("set"), keys, st.text(st.sampled_from("xy é\t\\"), max_size=6)) | st.tuples(st.just("del"), keys)


def listed(program):
    done = program.run("list")
    assert done.code == 0, done.err
    return dict(line.split("\t", 1) for line in done.out.split("\n")[:-1])


def states(history):
    """Every state the store went through."""
    state = {}
    yield dict(state)
    for change in history:
        if change[0] == "set":
            state[change[1]] = change[2]
        else:
            state.pop(change[1], None)
        yield dict(state)


@settings(max_examples=6, phases=[Phase.generate])
@given(st.lists(changes, min_size=3, max_size=12), st.floats(0, 1))
def test_any_cut_leaves_a_moment_of_the_past(program, history, part):
    program.fresh()
    done = program.run("session", stdin="".join(" ".join(change) + "\n" for change in history))
    assert done.code == 0
    assert len(done.out.splitlines()) == len(history)
    past = list(states(history))
    assert listed(program) == past[-1]
    log = program.read("store.log") or b""
    program.write("store.log", log[: int(len(log) * part)])
    assert listed(program) in past
    program.write("store.log", log[:-1])
    latest = [number for number in range(len(past) - 1) if past[number] != past[-1]]
    if log and latest:
        # Without its last byte the last record is gone and no other.
        assert listed(program) in past[latest[-1] :]
