from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=10)
@given(st.binary(max_size=100))
def test_gives_back_any_bytes(program, body):
    assert program.put("/notes/any", body=body).status == 204
    assert program.get("/notes/any").body == body
