"""Some thousand decisions of a busy cache, each of them compared."""

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
SECOND = 784111777
REQUEST = {"Cache-Control": "max-stale=20, min-fresh=3", "Accept": "text/html"}


def decision(lifetime: int, age: int) -> str:
    """For a request that takes answers stale for 20 seconds, or fresh for 3 more."""
    if lifetime > age:
        return "fresh" if lifetime - age >= 3 else "validate"
    return "stale" if age - lifetime <= 20 else "validate"


def work(program):
    freshness = program.module
    keys = set()
    for number in range(1500):
        kept = f'public, max-age={number % 90}, x="{number}"'
        response = {"Date": DATE, "Cache-Control": kept, "ETag": f'"{number}"'}
        found = freshness.decide(REQUEST, response, SECOND, SECOND + number % 120)
        assert found == decision(number % 90, number % 120), f"{found!r} for {number % 90} s and {number % 120} s"
        status = 200 if number % 3 else 500
        assert freshness.may_store("GET", status, REQUEST, response, True) is (status == 200)
        keys.add(freshness.key("GET", f"/{number % 1000}", "Accept", REQUEST))
    assert len(keys) == 1000, "equal requests have equal keys, others have others"
