import pytest

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
LATER = "Sun, 06 Nov 1994 08:51:37 GMT"
SECOND = 784111777


def control(value, **headers):
    return {"Cache-Control": value, "Date": DATE, **headers}


def test_what_may_be_kept(program):
    may_store = program.module.may_store
    for status in (200, 203, 204, 301, 404, 410):
        assert may_store("GET", status, {}, {}) is True
    for status in (201, 206, 302, 304, 403, 500):
        assert may_store("GET", status, {}, control("max-age=9")) is False
    for method in ("POST", "HEAD", "get", "DELETE"):
        assert may_store(method, 200, {}, {}) is False
    assert may_store("GET", 200, {"Cache-Control": "no-store"}, {}) is False
    assert may_store("GET", 200, {}, control("max-age=9, no-store")) is False
    assert may_store("GET", 200, {}, control("private")) is True
    assert may_store("GET", 200, {"Authorization": "x"}, {}) is True


def test_what_a_shared_cache_may_keep(program):
    may_store = program.module.may_store
    authorized = {"Authorization": "Bearer x"}
    assert may_store("GET", 200, {}, control("private"), True) is False
    assert may_store("GET", 200, {}, control('private="set-cookie"'), True) is False
    assert may_store("GET", 200, authorized, control("max-age=60"), True) is False
    for allowed in ("public", "s-maxage=5", "max-age=1, must-revalidate"):
        assert may_store("GET", 200, authorized, control(allowed), True) is True
    assert may_store("GET", 200, {}, {}, True) is True


def test_lifetime_from_max_age(program):
    lifetime = program.module.lifetime
    assert lifetime(control("max-age=60")) == 60
    assert lifetime(control("max-age=60", Expires=LATER)) == 60
    assert lifetime(control("max-age=0")) == 0
    for bad in ("max-age=x", "max-age=-5", "max-age", "max-age=1.5", "max-age= ", "no-cache"):
        assert lifetime(control(bad)) is None


def test_lifetime_from_expires(program):
    lifetime = program.module.lifetime
    assert lifetime({"Date": DATE, "Expires": LATER}) == 120
    assert lifetime({"Date": LATER, "Expires": DATE}) == 0
    assert lifetime({"Expires": LATER}) is None
    assert lifetime(control("max-age=soon", Expires=LATER)) == 120
    assert lifetime({}) is None


def test_shared_lifetime(program):
    lifetime = program.module.lifetime
    assert lifetime(control("max-age=60, s-maxage=5"), True) == 5
    assert lifetime(control("max-age=60, s-maxage=5")) == 60
    assert lifetime(control("s-maxage=5", Expires=LATER)) == 120
    assert lifetime(control("max-age=60, s-maxage=x"), True) == 60


@pytest.mark.parametrize("text", ["0", "-1", "tomorrow", "1994-11-06", ""])
def test_bad_expires(program, text):
    assert program.module.lifetime({"Date": DATE, "Expires": text}) == 0
    assert program.module.lifetime(control("max-age=7", Expires=text)) == 7


def test_what_must_be_validated(program):
    decide = program.module.decide
    fresh = control("max-age=60")
    for request in ("no-cache", "max-age=9", "max-age=0", "min-fresh=51"):
        assert decide({"Cache-Control": request}, fresh, SECOND, SECOND + 10) == "validate"
    for request in ("max-age=10", "min-fresh=50", "max-age=oops", "no-transform"):
        assert decide({"Cache-Control": request}, fresh, SECOND, SECOND + 10) == "fresh"
    assert decide({}, control("max-age=60, no-cache"), SECOND, SECOND) == "validate"
    assert decide({"Cache-Control": "max-stale"}, control("no-cache"), SECOND, SECOND) == "validate"
    assert decide({"Cache-Control": "max-age=5, max-stale"}, control("max-age=1"), SECOND, SECOND + 6) == "validate"


def test_stale_answers(program):
    decide = program.module.decide
    old = control("max-age=60")
    assert decide({"Cache-Control": "max-stale"}, old, SECOND, SECOND + 9999) == "stale"
    assert decide({"Cache-Control": "max-stale=10"}, old, SECOND, SECOND + 70) == "stale"
    assert decide({"Cache-Control": "max-stale=10"}, old, SECOND, SECOND + 71) == "validate"
    assert decide({"Cache-Control": "max-stale=x"}, old, SECOND, SECOND + 61) == "validate"
    assert decide({"Cache-Control": "max-stale=5"}, {"Date": DATE}, SECOND, SECOND + 5) == "stale"
    assert decide({"Cache-Control": "max-stale=5"}, {"Date": DATE}, SECOND, SECOND + 6) == "validate"
    assert decide({"Cache-Control": "max-stale"}, old, SECOND, SECOND + 10) == "fresh"
    assert decide({"Cache-Control": "max-stale"}, control("max-age=60, proxy-revalidate"), SECOND, SECOND + 61) == "stale"


def test_never_stale_where_forbidden(program):
    decide = program.module.decide
    anything = {"Cache-Control": "max-stale"}
    assert decide(anything, control("max-age=1, must-revalidate"), SECOND, SECOND + 2) == "validate"
    assert decide(anything, control("max-age=1, proxy-revalidate"), SECOND, SECOND + 2, True) == "validate"


def test_only_if_cached(program):
    decide = program.module.decide
    request = {"Cache-Control": "only-if-cached"}
    assert decide(request, control("max-age=60"), SECOND, SECOND + 60) == "fail"
    assert decide(request, control("max-age=60"), SECOND, SECOND) == "fresh"
    assert decide({"Cache-Control": "only-if-cached, max-stale=1"}, control("max-age=60"), SECOND, SECOND + 61) == "stale"
    assert decide({"Cache-Control": "only-if-cached, no-cache"}, control("max-age=60"), SECOND, SECOND) == "fail"


def test_gives_validators(program):
    validators = program.module.validators
    assert validators({"ETag": 'W/"a, b"', "Last-Modified": DATE}) == {"If-None-Match": 'W/"a, b"', "If-Modified-Since": DATE}
    assert validators({"etag": '"x"'}) == {"If-None-Match": '"x"'}
    assert validators({"Last-Modified": "whenever"}) == {"If-Modified-Since": "whenever"}
    assert validators({}) == {}


def test_refreshes_headers(program):
    kept = {"Content-Type": "text/plain", "Content-Length": "5", "ETag": '"1"', "X-A": "1"}
    answer = {"etag": '"2"', "CONTENT-LENGTH": "0", "Content-Encoding": "gzip", "x-b": "2"}
    assert program.module.refreshed(kept, answer) == {
        "content-type": "text/plain",
        "content-length": "5",
        "etag": '"2"',
        "x-a": "1",
        "x-b": "2",
    }
