"""The service's requests and answers over HTTP."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gate.accounts import Accounts, TakenError, is_name, is_password
from gate.lock import GuessingLock

LARGEST_BODY = 16384
Body = dict[str, Any]


class Problem(Exception):
    """An answer that is not the one hoped for."""

    def __init__(self, status: int, error: str, **headers: str) -> None:
        super().__init__(error)
        self.status = status
        self.headers = {key.replace("_", "-"): value for key, value in headers.items()}


class Server(ThreadingHTTPServer):
    """Answers every connection in a thread of its own."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, accounts: Accounts) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.accounts = accounts
        self.lock = GuessingLock()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def answer(self) -> None:
        """Find what the request asks for, do it, and say how it went."""
        status: int
        content: Body | None
        headers: dict[str, str] = {}
        try:
            status, content = self._handle()
        except Problem as problem:
            status, content, headers = (
                problem.status,
                {"error": str(problem)},
                problem.headers,
            )
        data = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        if content is not None:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent: paths and headers are nobody's business."""

    def _handle(self) -> tuple[int, Body | None]:
        raw = self._read()
        routes = ROUTES.get(self.path.partition("?")[0])
        if routes is None:
            raise Problem(404, "there is nothing here")
        act = routes.get(self.command)
        if act is None:
            raise Problem(
                405, "this method is not offered here", Allow=", ".join(routes)
            )
        return act(self, raw)

    def _read(self) -> bytes:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_BODY:
            self.close_connection = True
            raise Problem(413, "the body is too large", Connection="close")
        return self.rfile.read(length)

    def _token(self) -> tuple[str, str]:
        """The caller's token and name."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        name = self.server.accounts.name_of(token) if scheme == "Bearer" else None
        if name is None:
            raise Problem(401, "a valid token is needed", WWW_Authenticate="Bearer")
        return token, name

    def health(self, _raw: bytes) -> tuple[int, Body | None]:
        """Say that the service is there."""
        return 200, {"status": "ok"}

    def register(self, raw: bytes) -> tuple[int, Body | None]:
        """Create an account."""
        body = _object(raw)
        name, password = body.get("name"), body.get("password")
        if not is_name(name) or not is_password(password):
            raise Problem(422, "the name or the password breaks the rules")
        try:
            self.server.accounts.register(str(name), str(password))
        except TakenError:
            raise Problem(409, "the name is taken") from None
        return 201, {"name": name}

    def log_in(self, raw: bytes) -> tuple[int, Body | None]:
        """Open a session."""
        body = _object(raw)
        name, password = body.get("name"), body.get("password")
        if not isinstance(name, str) or not isinstance(password, str):
            raise Problem(422, "name and password must be texts")
        lock = self.server.lock
        seconds = lock.wait_seconds(name)
        if seconds:
            raise Problem(429, "too many failed logins", Retry_After=str(seconds))
        if not self.server.accounts.is_right(name, password):
            lock.fail(name)
            raise Problem(401, "name or password is wrong")
        lock.forget(name)
        return 201, {"token": self.server.accounts.open_session(name)}

    def who(self, _raw: bytes) -> tuple[int, Body | None]:
        """Say who the caller is."""
        _, name = self._token()
        return 200, {"name": name}

    def log_out(self, _raw: bytes) -> tuple[int, Body | None]:
        """End the caller's session."""
        token, _ = self._token()
        self.server.accounts.end_session(token)
        return 204, None

    def change_password(self, raw: bytes) -> tuple[int, Body | None]:
        """Change the caller's password."""
        token, name = self._token()
        body = _object(raw)
        old, new = body.get("old"), body.get("new")
        if not isinstance(old, str) or not self.server.accounts.is_right(name, old):
            raise Problem(403, "the old password is wrong")
        if not is_password(new):
            raise Problem(422, "the new password breaks the rules")
        self.server.accounts.change(name, str(new), token)
        return 204, None


Act = Callable[[Handler, bytes], tuple[int, Body | None]]
ROUTES: dict[str, dict[str, Act]] = {
    "/health": {"GET": Handler.health},
    "/users": {"POST": Handler.register},
    "/sessions": {"POST": Handler.log_in},
    "/sessions/current": {"DELETE": Handler.log_out},
    "/me": {"GET": Handler.who},
    "/password": {"POST": Handler.change_password},
}


def _object(raw: bytes) -> Body:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Problem(400, "the body must be a JSON object")
    return body
