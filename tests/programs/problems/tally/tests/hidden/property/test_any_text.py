from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=5)
@given(st.text(st.characters(codec="ascii", exclude_characters="\x1c\x1d\x1e\x1f"), max_size=40))
def test_counts_as_split_does(program, text):
    assert program.run(stdin=text).out == f"{len(text.split())}\n"
