"""A certificate authority of the tests' own, and servers' certificates from it, good and bad."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

NAME = "models.test"
"""A name that no lookup knows: only a proxy can lead there."""
_NEW = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"


class Authority:
    """Issues certificates into a folder; `file` is what a client must trust."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "ca.pem"
        self._openssl(f"req -x509 {_NEW} -days 2 -keyout ca.key -out ca.pem -subj /CN=authority")

    def serving(
        self, names: str = f"DNS:localhost,DNS:{NAME},IP:127.0.0.1", *, days: int = 2, is_self_signed: bool = False
    ) -> ssl.SSLContext:
        """What a server is started with."""
        (self.folder / "leaf.ext").write_text(f"subjectAltName={names}\nbasicConstraints=CA:FALSE\n")
        self._openssl(f"req {_NEW} -keyout key.pem -out leaf.csr -subj /CN=server")
        signer = "-signkey key.pem" if is_self_signed else "-CA ca.pem -CAkey ca.key -CAcreateserial"
        self._openssl(f"x509 -req -in leaf.csr {signer} -days {days} -out cert.pem -extfile leaf.ext")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "cert.pem", self.folder / "key.pem")
        return context

    def _openssl(self, arguments: str) -> None:
        openssl = shutil.which("openssl")
        if openssl is None:
            pytest.skip("openssl is not installed")
        subprocess.run([openssl, *arguments.split()], cwd=self.folder, check=True, capture_output=True)
