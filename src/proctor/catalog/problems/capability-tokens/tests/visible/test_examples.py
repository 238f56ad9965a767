"""What using the library looks like."""

import base64
import hashlib
import hmac
import json

SECRET = b"0123456789abcdef"


def test_gives_the_subject(program):
    authority = program.module.Authority({"main": SECRET})
    token = authority.mint("main", "ada", ["path under /docs", "user = ada"])
    assert authority.verify(token, {"path": "/docs/a.txt", "user": "ada"}) == "ada"


def test_denies_what_a_caveat_forbids(program):
    authority = program.module.Authority({"main": SECRET})
    token = authority.mint("main", "ada", ["path under /docs", "user = ada"])
    with program.raises("Denied"):
        authority.verify(token, {"path": "/docs/a.txt", "user": "bob"})


def test_mints_the_published_form(program):
    token = program.module.Authority({"main": SECRET}).mint("main", "ada", ["user = ada"])
    version, payload, signature = token.split(".")
    assert version == "cap1"
    assert json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))) == {
        "key": "main",
        "subject": "ada",
        "caveats": ["user = ada"],
    }
    first = hmac.digest(SECRET, b"main\nada", hashlib.sha256)
    expected = hmac.digest(first, b"user = ada", hashlib.sha256)
    assert signature == base64.urlsafe_b64encode(expected).decode().rstrip("=")


def test_attenuates_without_a_secret(program):
    authority = program.module.Authority({"main": SECRET})
    narrower = program.module.attenuate(authority.mint("main", "ada"), "method in GET,HEAD")
    assert authority.verify(narrower, {"method": "HEAD"}) == "ada"
    with program.raises("PermissionError"):
        authority.verify(narrower, {"method": "POST"})
