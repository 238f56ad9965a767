"""Keeps notes in files."""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

DATA = Path(os.environ["DATA_DIR"])


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status, body=b""):
        """Send it."""
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        """Health, or a note."""
        if self.path == "/health":
            self.answer(200)
            return
        path = DATA / self.path.rpartition("/")[2]
        if path.is_file():
            self.answer(200, path.read_bytes())
        else:
            self.answer(404)

    def do_PUT(self):
        """Keep a note."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        path = DATA / self.path.rpartition("/")[2]
        made = path.with_suffix(f".{os.getpid()}.{id(self)}")
        made.write_bytes(body)
        made.replace(path)
        self.answer(204)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
