"""Hundreds of tokens minted, narrowed and verified; every token, subject and refusal is compared."""

import base64
import hashlib
import hmac
import json

SECRET = b"0123456789abcdef"
CAVEATS = ["path under /docs", "time < 5000", "method in GET,HEAD", "size <= 100"]
CONTEXT = {"path": "/docs/a", "method": "GET", "size": 1}


def signature(subject: str) -> bytes:
    made = hmac.digest(SECRET, f"k\n{subject}".encode(), hashlib.sha256)
    for caveat in CAVEATS:
        made = hmac.digest(made, caveat.encode(), hashlib.sha256)
    return made


SIGNATURES = {f"user{number}": signature(f"user{number}") for number in range(600)}


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def work(program):
    authority = program.module.Authority({"k": SECRET})
    for number, (subject, right) in enumerate(SIGNATURES.items()):
        token = authority.mint("k", subject, CAVEATS[:2])
        for caveat in CAVEATS[2:]:
            token = program.module.attenuate(token, caveat)
        _, payload, signed = token.split(".")
        assert json.loads(decoded(payload)) == {"key": "k", "subject": subject, "caveats": CAVEATS}
        assert decoded(signed) == right, "the token is not signed as it should be"
        assert authority.verify(token, {**CONTEXT, "time": number}) == subject
        if number % 10 == 0:
            with program.raises("Denied"):
                authority.verify(token, {**CONTEXT, "time": number, "method": "PUT"})
