from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=20)
@given(st.lists(st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()), max_size=5))
def test_keeps_whatever_is_put(program, things):
    shelf = program.module.Shelf(5)
    for thing in things:
        shelf.put(thing)
    assert list(shelf) == things
