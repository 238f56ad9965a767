"""Whether the role that this container runs is well: for a server /health, for a worker whether it was seen lately.

For Docker's HEALTHCHECK. It looks at the command that the container was started with, so that one check fits all roles.
"""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import urllib.request
from pathlib import Path
from socket import gethostname

SECONDS = 8.0


def role_of(processes: Path) -> list[str]:
    """The words after `proctor` of process 1, or of the one that it started (tini)."""
    words = (processes / "1" / "cmdline").read_bytes().decode().rstrip("\0").split("\0")
    programs = [index for index, word in enumerate(words) if word.endswith("/proctor") or word == "proctor"]
    return words[programs[0] + 1 :] if programs else []


def option(words: list[str], name: str, usual: str) -> str:
    for index, word in enumerate(words):
        if word == name and index + 1 < len(words):
            return words[index + 1]
        if word.startswith(f"{name}="):
            return word.partition("=")[2]
    return usual


def check_server(words: list[str]) -> str | None:
    """None where the server answers, else why it is not well."""
    scheme = "https" if option(words, "--tls-certificate", "") else "http"
    context = ssl.create_default_context()
    # The certificate is for the name that people use; this asks whether the process behind it lives.
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    url = f"{scheme}://127.0.0.1:{option(words, '--port', '8000')}/health"
    try:
        with urllib.request.urlopen(url, timeout=SECONDS, context=context) as answer:  # noqa: S310 - http and https only
            return None if answer.status == 200 else f"{url} answered {answer.status}"
    except OSError as error:
        return f"{url}: {error}"


def check_worker() -> str | None:
    """None where the database has seen a worker of this container lately, else why it is not well."""
    command = [str(Path(sys.executable).with_name("proctor")), "workers", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)  # noqa: S603
    if done.returncode:
        return done.stderr.strip()
    here = [row for row in json.loads(done.stdout)["workers"] if row["host"] == gethostname() and row["is_alive"]]
    return None if here else "no worker of this container was seen lately"


def main() -> int:
    words = role_of(Path("/proc"))
    fault = check_server(words) if words[:1] == ["serve"] else check_worker() if words[:1] == ["worker"] else None
    if fault is not None:
        sys.stderr.write(f"{fault}\n")
    return int(fault is not None)


if __name__ == "__main__":
    sys.exit(main())
