"""A JSON endpoint to examine: `python http_server.py 9000`, then `http/?url=http://127.0.0.1:9000/ask`."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from function import answer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = answer(asked["prompt"])
        counts = {"input_tokens": len(asked["prompt"].split()), "output_tokens": len(text.split())}
        body = json.dumps({"answer": text, "usage": counts}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: Proctor keeps the record."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
