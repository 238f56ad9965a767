import json

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

quick = settings(max_examples=6, phases=[Phase.generate])
keys = st.sampled_from(["a", "b", "_", "x-1", "true", "no_de", "z9", "key-", "_0", "list"])
texts = st.text(st.sampled_from('ab"\\#{}[]=, \té😀'), max_size=8)
values = st.recursive(
    st.integers(-(2**53) + 1, 2**53 - 1) | st.booleans() | texts, lambda inner: st.lists(inner, max_size=3), max_leaves=6
)
blocks = st.recursive(
    st.dictionaries(keys, values, max_size=4), lambda inner: st.dictionaries(keys, values | inner, max_size=4), max_leaves=10
)
spaces = st.sampled_from([" ", "\n", "\t \n", " \r\n", "  # note\n"])


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\u{9}") + '"'


def tokens(value):
    """The tokens of a value or of the entries of a block."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from ["{", *tokens(inner), "}"] if isinstance(inner, dict) else ["=", *tokens(inner)]
    elif isinstance(value, list):
        yield "["
        for inner in value:
            yield from [*tokens(inner), ","]
        yield "]"
    else:
        yield quoted(value) if isinstance(value, str) else json.dumps(value)


@quick
@given(blocks, st.lists(spaces, min_size=5, max_size=5))
def test_any_document_is_understood(program, wanted, between):
    text = "".join(token + between[n % 5] for n, token in enumerate(tokens(wanted)))
    done = program.run("json", stdin=text)
    assert done.code == 0, done.err
    assert json.loads(done.out) == wanted


@quick
@given(blocks, st.lists(spaces, min_size=5, max_size=5))
def test_formatting_twice_changes_nothing(program, wanted, between):
    text = "".join(token + between[n % 5] for n, token in enumerate(tokens(wanted)))
    once = program.run("fmt", stdin=text)
    assert once.code == 0, once.err
    assert program.run("fmt", stdin=once.out).out == once.out
    assert json.loads(program.run("json", stdin=once.out).out) == wanted
