"""Sign-in with GitHub's OAuth flow: it is no OpenID Connect, so who somebody is, is asked with the token."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from proctor.accounts.back_channel import ask_json
from proctor.accounts.oidc import NOT_PROVEN, Person
from proctor.domain.errors import SignInError

USUAL = "https://github.com"


class GitHub:
    """github.com, or a GitHub Enterprise server."""

    def __init__(self, url: str, client_id: str, client_secret: str) -> None:
        self.issuer, self._client_id, self._client_secret = url.rstrip("/"), client_id, client_secret
        self._api = "https://api.github.com" if self.issuer == USUAL else f"{self.issuer}/api/v3"

    def address(self, redirect_uri: str, state: str, nonce: str, challenge: str) -> str:  # noqa: ARG002 - it has no nonce
        """Where the browser is sent."""
        asked = {
            "client_id": self._client_id, "redirect_uri": redirect_uri, "scope": "read:user user:email",
            "state": state, "allow_signup": "false", "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self.issuer}/login/oauth/authorize?{urlencode(asked)}"

    def identify(self, query: Mapping[str, str], redirect_uri: str, nonce: str, verifier: str) -> Person:  # noqa: ARG002
        """Who came back; GitHub says that a code is not good with status 200."""
        form = {
            "client_id": self._client_id, "client_secret": self._client_secret, "code": query.get("code", ""),
            "redirect_uri": redirect_uri, "code_verifier": verifier,
        }  # fmt: skip
        token = ask_json(f"{self.issuer}/login/oauth/access_token", form).get("access_token")
        if not isinstance(token, str) or not token:
            raise SignInError(NOT_PROVEN)
        sent = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        number = ask_json(f"{self._api}/user", headers=sent).get("id")
        if not isinstance(number, int):
            raise SignInError(NOT_PROVEN)
        emails = ask_json(f"{self._api}/user/emails", headers=sent, is_list=True)
        chosen = [one for one in emails if isinstance(one, dict) and one.get("verified") is True and one.get("primary")]
        email = chosen[0].get("email") if chosen else None
        return Person(self.issuer, str(number), email if isinstance(email, str) else None)
