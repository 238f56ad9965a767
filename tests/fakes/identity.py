"""Identity providers on loopback: an OpenID issuer that says what it is told to, and GitHub, strict as the real one."""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

Reply = tuple[int, dict[str, str], Any]


class _Loopback:
    """A server that answers each request with what `answer` makes of it."""

    def __init__(self) -> None:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._do({})

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                self._do({name: values[0] for name, values in parse_qs(self.rfile.read(length).decode()).items()})

            def _do(self, form: Mapping[str, str]) -> None:
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                status, headers, body = owner.answer(parts.path, query, form, dict(self.headers))
                content = json.dumps(body).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Nothing is said."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, query: Mapping[str, str], form: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class OpenIdStandIn(_Loopback):
    """Gives out the token that `make` makes of the claims that would be right."""

    def __init__(self, client_id: str) -> None:
        from joserfc.jwk import RSAKey

        super().__init__()
        self.client_id, self.key = client_id, RSAKey.generate_key(2048, {"kid": "1", "use": "sig"}, auto_kid=False)
        self.nonce = ""
        self.make: Callable[[dict[str, Any]], str] = self.sign
        self.changes: dict[str, Any] = {}
        """What its configuration says otherwise."""

    def claims(self) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": self.url, "aud": self.client_id, "sub": "ada", "nonce": self.nonce, "iat": now, "exp": now + 60,
            "email": "ada@example.com", "email_verified": True,
        }  # fmt: skip

    def sign(self, claims: dict[str, Any], algorithm: str = "RS256") -> str:
        from joserfc import jwt

        return jwt.encode({"alg": algorithm, "kid": "1"}, claims, self.key, algorithms=[algorithm])

    def answer(self, path: str, query: Mapping[str, str], form: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
        if path == "/.well-known/openid-configuration":
            places = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "jwks"}
            found = {"issuer": self.url} | {name: f"{self.url}/{place}" for name, place in places.items()}
            return 200, {}, found | self.changes
        if path == "/jwks":
            return 200, {}, {"keys": [self.key.as_dict(private=False)]}
        return 200, {}, {"access_token": "x", "token_type": "Bearer", "id_token": self.make(self.claims())}


@dataclass
class _Code:
    redirect_uri: str
    challenge: str


@dataclass
class GitHubPerson:
    number: int
    emails: list[dict[str, Any]] = field(default_factory=list)


class GitHubStandIn(_Loopback):
    """GitHub's OAuth flow: a code is good once, for the client, the address and the verifier that it was asked with."""

    def __init__(self, client_id: str, client_secret: str) -> None:
        super().__init__()
        self.client_id, self.client_secret = client_id, client_secret
        self.redirect_uri = ""
        """The one that the application is registered with."""
        self.person = GitHubPerson(1)
        self._codes: dict[str, _Code] = {}
        self._tokens: set[str] = set()

    def answer(self, path: str, query: Mapping[str, str], form: Mapping[str, str], headers: Mapping[str, str]) -> Reply:
        if path == "/login/oauth/authorize":
            return self._authorize(query)
        if path == "/login/oauth/access_token":
            return 200, {}, self._exchange(form)
        if headers.get("Authorization", "").removeprefix("Bearer ") not in self._tokens:
            return 401, {}, {"message": "Bad credentials"}
        if path == "/api/v3/user":
            return 200, {}, {"id": self.person.number, "login": "ada"}
        return 200, {}, self.person.emails

    def _authorize(self, query: Mapping[str, str]) -> Reply:
        is_right = (
            query.get("client_id") == self.client_id
            and query.get("redirect_uri") == self.redirect_uri
            and len(query.get("state", "")) >= 20
            and query.get("code_challenge_method") == "S256"
        )
        if not is_right:
            return 400, {}, {"message": "redirect_uri_mismatch"}
        code = secrets.token_hex(10)
        self._codes[code] = _Code(query["redirect_uri"], query["code_challenge"])
        answered = urlencode({"code": code, "state": query["state"]})
        return 302, {"Location": f"{self.redirect_uri}?{answered}"}, {}

    def _exchange(self, form: Mapping[str, str]) -> dict[str, str]:
        code = self._codes.pop(form.get("code", ""), None)
        mine = (form.get("client_id"), form.get("client_secret")) == (self.client_id, self.client_secret)
        challenge = base64.urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).rstrip(b"=")
        if (
            code is None
            or not mine
            or (code.redirect_uri, code.challenge) != (form.get("redirect_uri"), challenge.decode())
        ):
            return {"error": "bad_verification_code"}
        token = f"gho_{secrets.token_hex(10)}"
        self._tokens.add(token)
        return {"access_token": token, "token_type": "bearer"}
