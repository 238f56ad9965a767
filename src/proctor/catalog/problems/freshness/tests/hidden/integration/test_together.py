DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
SECOND = 784111777


def test_names_in_any_case(program):
    freshness = program.module
    response = {"cAcHe-CoNtRoL": "MAX-AGE=60", "dATE": DATE, "eTaG": '"1"'}
    assert freshness.lifetime(response) == 60
    assert freshness.decide({"CACHE-CONTROL": "Min-Fresh=10"}, response, SECOND, SECOND + 50) == "fresh"
    assert freshness.decide({"CACHE-CONTROL": "Min-Fresh=11"}, response, SECOND, SECOND + 50) == "validate"
    assert freshness.validators(response) == {"If-None-Match": '"1"'}
    assert freshness.may_store("GET", 200, {"CACHE-control": "No-Store"}, response) is False


def test_keys_tell_entries_apart(program):
    key = program.module.key
    plain = key("GET", "/a", "", {})
    assert plain == key("GET", "/a", "", {"Accept": "x"})
    assert plain != key("HEAD", "/a", "", {})
    assert plain != key("GET", "/A", "", {})
    german = {"Accept-Language": " de ", "Accept": "x"}
    assert key("GET", "/a", "Accept-Language", german) == key("GET", "/a", "accept-language", {"accept-language": "de"})
    assert key("GET", "/a", "Accept-Language", german) != key("GET", "/a", "Accept-Language", {"Accept-Language": "en"})
    assert key("GET", "/a", "Accept-Language", {}) != key("GET", "/a", "Accept-Language", {"Accept-Language": ""})
    both = {"A": "1", "B": "2"}
    assert key("GET", "/a", "A, B", both) == key("GET", "/a", " b ,a", both)
    assert key("GET", "/a", "A, B", both) != key("GET", "/a", "A, B", {"A": "2", "B": "1"})
    assert key("GET", "/a", "*", {}) is None
    assert key("GET", "/a", "A, *", {}) is None
