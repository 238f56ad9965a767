from hypothesis import given, settings
from hypothesis import strategies as st

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
SECOND = 784111777
NAMES = st.from_regex(r"[a-z][a-z-]{0,8}[a-z]", fullmatch=True)
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=10)


@settings(max_examples=60)
@given(st.dictionaries(NAMES, st.none() | TEXTS, max_size=5))
def test_any_directives_come_back(program, expected):
    parts = []
    for name, argument in expected.items():
        quoted = None if argument is None else argument.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(name if quoted is None else f'{name}="{quoted}"')
    assert program.module.directives(" , ".join(parts)) == expected


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_an_answer_is_fresh_until_its_lifetime_ends(program, lifetime, passed):
    response = {"Cache-Control": f"max-age={lifetime}", "Date": DATE}
    expected = "fresh" if passed < lifetime else "validate"
    assert program.module.decide({}, response, SECOND, SECOND + passed) == expected


@settings(max_examples=60)
@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_ages_grow_with_time(program, header, delay, passed):
    response = {"Age": str(header), "Date": DATE}
    assert program.module.age(response, SECOND + delay, SECOND + delay + passed) == max(header, delay) + passed


@settings(max_examples=80)
@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_keys_of_any_headers(program, one, two, three, four):
    first = program.module.key("GET", "/", "A, B", {"A": one, "B": two})
    second = program.module.key("GET", "/", "A, B", {"A": three, "B": four})
    assert (first == second) == ((one.strip(), two.strip()) == (three.strip(), four.strip()))
