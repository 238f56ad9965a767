from fractions import Fraction
from itertools import accumulate, count

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

rates = st.sampled_from(["0.1", "0.3", "0.5", "1", "2.5", "7"])
gaps = st.lists(st.integers(0, 40), min_size=1, max_size=10)
keys = map("key-{}".format, count())


def put(program, rate):
    reply = program.put("/limits/any", json={"capacity": 1000, "per_second": float(rate)})
    assert reply.status == 200


def take(program, key, **members):
    return program.post("/limits/any/take", json={"key": key, **members})


@settings(max_examples=12, phases=[Phase.generate])
@given(rates, gaps)
def test_tokens_gained_can_all_be_taken(program, rate, gaps):
    put(program, rate)
    key = next(keys)
    assert take(program, key, at=0, cost=1000).status == 200
    tokens, now = Fraction(0), Fraction(0)
    for gap in gaps:
        step = Fraction(gap, 10)
        now += step
        tokens += step * Fraction(rate)
        cost = int(tokens)
        if cost:
            reply = take(program, key, at=float(now), cost=cost)
            assert reply.status == 200, (now, tokens)
            tokens -= cost


@settings(max_examples=12, phases=[Phase.generate])
@given(rates, st.lists(st.tuples(st.integers(0, 200), st.integers(1, 300)), min_size=2, max_size=8))
def test_events_out_of_order_gain_nothing(program, rate, events):
    put(program, rate)
    as_told, in_order = next(keys), next(keys)
    latest = accumulate((at for at, _ in events), max)
    for (at, cost), then in zip(events, latest):
        assert take(program, as_told, at=at, cost=cost).json() == take(program, in_order, at=then, cost=cost).json()
