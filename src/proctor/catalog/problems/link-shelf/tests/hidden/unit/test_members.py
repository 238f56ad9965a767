import re

import pytest


def errors(program, members):
    reply = program.post("/links", json=members)
    assert reply.status == 422, reply.text
    found = reply.json()
    assert isinstance(found["error"], str)
    assert all(isinstance(text, str) and text for text in found["errors"].values())
    return set(found["errors"])


def test_gives_codes_of_its_own(program):
    codes = {program.post("/links", json={"url": "https://example.org/same"}).json()["code"] for _ in range(40)}
    assert len(codes) == 40
    assert all(re.fullmatch("[a-z0-9]{8}", code) for code in codes)


def test_names_all_invalid_members(program):
    assert errors(program, {"url": 5, "title": ["x"], "code": "A", "colour": "red"}) == {"url", "title", "code", "colour"}
    assert errors(program, {"title": None}) == {"url", "title"}
    path = program.post("/links", json={"url": "https://example.org/"}).headers["Location"]
    reply = program.put(path, json={"code": "other-code", "title": "x" * 101}, headers={"If-Match": "*"})
    assert reply.status == 422
    assert set(reply.json()["errors"]) == {"code", "title", "url"}


@pytest.mark.parametrize(
    "members",
    [
        {"url": "https://"},
        {"url": "https:///path"},
        {"url": "HTTPS://example.org"},
        {"url": "https://example.org/a b"},
        {"url": "https://example.org/\t"},
        {"url": "//example.org"},
        {"url": "https://example.org/é"},
        {"url": "https://example.org/" + "x" * 1981},
        {"url": ""},
        {"url": None},
    ],
)
def test_judges_members_by_the_rules(program, members):
    assert errors(program, members) == {"url"}
    good = {"url": "https://example.org/" + "x" * 1980, "title": "é" * 100}
    assert program.post("/links", json=good).status == 201
    for code in ("ab", "x" * 33, "Docs", "a_b", "a/b", "", 123, None):
        assert errors(program, {"url": "https://example.org/", "code": code}) == {"code"}


def test_refuses_malformed_json(program):
    for body in (b"", b"{", b'["url"]', b"null", b'{"url": "https://example.org/"', b"\xff\xfe{}"):
        reply = program.post("/links", body=body, headers={"content-type": "application/json"})
        assert reply.status == 400, body
        assert isinstance(reply.json()["error"], str)
    assert program.post("/links", json={"url": "https://example.org/"}).status == 201


def test_refuses_other_content_types(program):
    body = b'{"url": "https://example.org/"}'
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "application/jsonish"):
        assert program.post("/links", body=body, headers={"content-type": content_type}).status == 415
    accepted = program.post("/links", body=body, headers={"content-type": "application/json; charset=utf-8"})
    assert accepted.status == 201


def test_knows_no_other_links(program):
    for path in ("/links/no-such-link", "/go/no-such-link", "/links/no-such-link/hits", "/nothing", "/links/a/b/c"):
        reply = program.get(path)
        assert reply.status == 404, path
        assert isinstance(reply.json()["error"], str)
    assert program.delete("/links/no-such-link").status == 404
    missing = program.put("/links/no-such-link", json={"url": "https://example.org/"}, headers={"If-Match": "*"})
    assert missing.status in (404, 412)


def test_refuses_other_methods(program):
    expected = {
        ("DELETE", "/links"): {"GET", "POST"},
        ("PATCH", "/links/abc"): {"GET", "PUT", "DELETE"},
        ("POST", "/go/abc"): {"GET"},
        ("PUT", "/links/abc/hits"): {"GET"},
    }
    for (method, path), allowed in expected.items():
        reply = program.request(method, path)
        assert reply.status == 405, (method, path)
        found = {name.strip() for name in reply.headers["Allow"].split(",")}
        assert found - {"HEAD", "OPTIONS"} == allowed
