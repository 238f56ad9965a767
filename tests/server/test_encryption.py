"""TLS of the server's own and of a proxy before it: what is served, which cookies count, whose word is believed."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from http.client import HTTPException, HTTPSConnection
from pathlib import Path

import pytest
from starlette.requests import HTTPConnection as Connection

from commands import ended
from proctor.accounts.people import add_user, set_password
from proctor.server.access import V1
from proctor.server.addresses import address_of
from proctor.server.headers import hosts_of, is_encrypted
from proctor.server.serving import ListenAddress
from proctor.server.sign_in import COOKIE, SECURE_COOKIE
from proctor.stores.database import Database, open_database
from server.serving import SECRET, Server, serving

PASSWORD = "a marked password 7261"
NAME = "proctor.example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("encrypted")
    with_user(found / "home").dispose()
    return found


def with_user(home: Path) -> Database:
    home.mkdir()
    database = open_database(f"sqlite:///{home / 'proctor.db'}")
    set_password(database, add_user(database, "ada", is_admin=True, by="test").token, PASSWORD)
    return database


@pytest.fixture(scope="module")
def encrypted(folder: Path) -> Iterator[Server]:
    """A server with a certificate that is made here."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", *kind, *names, *files], check=True, capture_output=True)
    options = ["--tls-certificate", str(certificate), "--tls-key", str(key), "--trusted-proxy", "127.0.0.1"]
    with serving(folder / "home", folder, *options, certificate=certificate, PROCTOR_SECRET=SECRET) as found:
        yield found


@pytest.fixture(scope="module")
def authority(folder: Path) -> tuple[Path, Path]:
    """An authority of clients, and a client that it vouches for."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here")

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *kind, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *kind, "-subj", "/CN=machine", "-keyout", "machine.key", "-out", "machine.csr")
    signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", "7", "-days", "2")
    openssl("x509", "-req", "-in", "machine.csr", *signing, "-out", "machine.crt")
    both = folder / "machine.pem"
    both.write_text((folder / "machine.crt").read_text() + (folder / "machine.key").read_text())
    return folder / "ca.pem", both


def test_nothing_older_than_tls_1_3_is_spoken(encrypted: Server) -> None:
    for version, is_spoken in ((ssl.TLSVersion.TLSv1_3, True), (ssl.TLSVersion.TLSv1_2, False)):
        context = ssl.create_default_context(cafile=str(encrypted.certificate))
        context.minimum_version = context.maximum_version = version
        with socket.create_connection(encrypted.place, 30) as plain:
            if is_spoken:
                with context.wrap_socket(plain, server_hostname="127.0.0.1") as spoken:
                    assert spoken.version() == "TLSv1.3"
            else:
                with pytest.raises(ssl.SSLError):
                    context.wrap_socket(plain, server_hostname="127.0.0.1")


def test_machines_prove_themselves_by_certificates_where_that_is_wanted(
    encrypted: Server, folder: Path, authority: tuple[Path, Path]
) -> None:
    """Whoever has none, or one of another authority, gets no answer; with one he still needs a key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    options = ["--tls-certificate", str(certificate), "--tls-key", str(key), "--tls-client-ca", str(authority[0])]
    own = folder / "own.pem"
    own.write_text(certificate.read_text() + key.read_text())
    with serving(folder / "home", folder, *options, certificate=certificate, PROCTOR_SECRET=SECRET) as server:
        for shown, answers in ((authority[1], True), (own, False), (None, False)):
            context = ssl.create_default_context(cafile=str(certificate))
            if shown is not None:
                context.load_cert_chain(str(shown))
            if answers:
                assert status_with(server, context) == 401
            else:
                with pytest.raises((ssl.SSLError, OSError, HTTPException)):
                    status_with(server, context)


def status_with(server: Server, context: ssl.SSLContext) -> int:
    connection = HTTPSConnection(*server.place, timeout=60, context=context)
    try:
        connection.request("GET", f"{V1}/runs")
        return connection.getresponse().status
    finally:
        connection.close()


def test_a_page_that_was_asked_for_in_the_clear_is_sent_to_https_and_never_in_circles(tmp_path: Path) -> None:
    options = ["--origin", f"https://{NAME}", "--trusted-proxy", "127.0.0.1"]
    with serving(tmp_path / "home", tmp_path, *options, PROCTOR_SECRET=SECRET) as server:
        for path in ("/", "/runs?status=failed", "/a%20b?x=%2F"):
            answer = server.ask("GET", path, Host=NAME, X_Forwarded_Proto="http")
            assert (answer.status, answer.headers["location"]) == (308, f"https://{NAME}{path}")
            assert server.ask("GET", path, Host=NAME, X_Forwarded_Proto="https").status != 308
            assert server.ask("GET", path, Host=NAME).status != 308  # a proxy that does not say how it was asked
        assert server.ask("GET", "/health", Host=NAME, X_Forwarded_Proto="http").status == 200
        assert server.ask("GET", "/", Host="attacker.example", X_Forwarded_Proto="http").status == 421
        elsewhere = server.ask("GET", "//attacker.example/", Host=NAME, X_Forwarded_Proto="http")
        assert elsewhere.headers["location"].startswith(f"https://{NAME}/")


def test_certificates_that_cannot_be_used_are_one_line(tmp_path: Path, folder: Path, encrypted: Server) -> None:
    (tmp_path / "none.pem").write_text("no certificate")
    real = ["--tls-certificate", str(folder / "certificate.pem"), "--tls-key", str(folder / "key.pem")]
    for arguments, said in (
        (["--tls-certificate", "none.pem"], "none.pem hold no certificate"),
        ([*real, "--tls-client-ca", "none.pem"], "none.pem holds no certificates of authorities"),
        (["--tls-client-ca", "none.pem"], "--tls-client-ca needs --tls-certificate"),
    ):
        code, _, err = ended(tmp_path / "home", tmp_path, "serve", "--port", str(encrypted.place[1]), *arguments)
        assert (code, said in err) == (2, True), err


def sign_in(server: Server, **headers: str) -> str:
    answer = server.post(f"{V1}/auth/sign-in", {"name": "ada", "password": PASSWORD}, **headers)
    assert answer.status == 200, answer.body
    return answer.headers["set-cookie"]


def test_a_certificate_serves_https_and_nothing_in_the_clear(encrypted: Server) -> None:
    assert encrypted.address.startswith("https://")
    answer = encrypted.ask("GET", "/health")
    assert (answer.status, answer.json["status"]) == (200, "ok")
    assert answer.headers["strict-transport-security"].startswith("max-age=31536000")
    clear = Server(encrypted.address, encrypted.home, encrypted.folder, encrypted.process)
    with pytest.raises((HTTPException, OSError)):
        clear.ask("GET", "/health")


def test_behind_tls_only_the_cookie_that_no_neighbour_can_set_counts(encrypted: Server) -> None:
    """A session that somebody else chose, set by a neighbouring host, signs nobody in."""
    cookie = sign_in(encrypted, Cookie=f"{SECURE_COOKIE}=chosen-by-somebody-else")
    name, _, rest = cookie.partition("=")
    token, attributes = rest.split(";", 1)
    assert name == SECURE_COOKIE
    assert token != "chosen-by-somebody-else"
    assert {"secure", "httponly", "samesite=lax", "path=/"} <= {one.strip().lower() for one in attributes.split(";")}
    assert "domain" not in attributes.lower()
    assert encrypted.ask("GET", f"{V1}/auth/me", Cookie=f"{SECURE_COOKIE}={token}").status == 200
    assert encrypted.ask("GET", f"{V1}/auth/me", Cookie=f"{COOKIE}={token}").status == 401


def test_a_trusted_proxy_says_where_the_request_comes_from(encrypted: Server) -> None:
    cookie = sign_in(encrypted, X_Forwarded_For="203.0.113.9", X_Forwarded_Proto="https").split(";")[0]
    rows = encrypted.get(f"{V1}/audit?limit=1000", Cookie=cookie)["items"]
    assert rows[-1]["address"] == "203.0.113.9"


def test_behind_a_proxy_everybody_signs_in_though_it_listens_on_loopback(tmp_path: Path) -> None:
    """Whoever comes through the proxy is not the person at this machine."""
    with serving(tmp_path / "home", tmp_path, "--origin", f"https://{NAME}", PROCTOR_SECRET=SECRET) as server:
        for host in (NAME, f"127.0.0.1:{server.place[1]}"):
            assert server.ask("GET", f"{V1}/runs", Host=host).status == 401
        assert server.ask("GET", "/health", Host="other.example").status == 421
        database = open_database(f"sqlite:///{tmp_path / 'home' / 'proctor.db'}")
        set_password(database, add_user(database, "ada", is_admin=True, by="test").token, PASSWORD)
        database.dispose()
        assert server.ask("GET", "/health", Host=NAME).headers["strict-transport-security"]
        cookie = sign_in(server, Host=NAME, Origin=f"https://{NAME}")
        assert cookie.startswith(f"{SECURE_COOKIE}=")
        assert "secure" in cookie.lower().replace(SECURE_COOKIE.lower(), "")
        assert server.ask("GET", f"{V1}/runs", Host=NAME, Cookie=cookie.split(";")[0]).status == 200


def test_a_proxy_without_tls_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:  # nothing is served should it not be refused
        port = str(taken.getsockname()[1])
        for arguments in (["--origin", f"http://{NAME}"], ["--trusted-proxy", "127.0.0.1"]):
            code, _, err = ended(tmp_path / "home", tmp_path, "serve", "--port", port, *arguments)
            assert code == 2
            assert "in the clear" in err


@pytest.mark.parametrize(
    ("place", "is_public"),
    [
        (ListenAddress("127.0.0.1", 1), False),
        (ListenAddress("127.0.0.1", 1, "http://127.0.0.1:8000"), False),
        (ListenAddress("127.0.0.1", 1, f"https://{NAME}"), True),
        (ListenAddress("127.0.0.1", 1, proxies=("127.0.0.1",)), True),
        (ListenAddress("192.0.2.1", 1), True),
    ],
)
def test_who_can_reach_it_decides_who_signs_in(place: ListenAddress, is_public: bool) -> None:
    assert place.is_public is is_public


def test_names_of_hosts_are_compared_as_browsers_send_them() -> None:
    assert {"[2001:db8::1]", "[2001:db8::2]"} <= hosts_of("2001:db8::1", "https://[2001:db8::2]:8443")
    assert "my-host" in hosts_of("My-Host", None)
    assert not is_encrypted({"scheme": "http"}, "http://proctor.example")


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002::/64"),
    ],
)
def test_an_address_is_a_person_or_his_network_and_never_everybody(host: str, counted: str) -> None:
    assert address_of(Connection({"type": "http", "client": (host, 1), "headers": []})) == counted
