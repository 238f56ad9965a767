"""PROCTOR_ARTIFACTS_URL: what it may say, and one clear line for what it may not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commands import Cli
from proctor.domain.errors import UserError
from proctor.settings import Settings
from proctor.stores.artifacts.folder import FolderArtifacts
from proctor.stores.artifacts.opening import open_artifacts
from proctor.stores.artifacts.s3_location import S3Location, read_s3_location

HERE = "endpoint=http://127.0.0.1:8333"
KEY = "AKIAEXAMPLEEXAMPLE"


def location_of(url: str, **environment: str) -> S3Location:
    return read_s3_location(url, environment)


@pytest.mark.parametrize("url", ["{}/a b", "file://{}/a%20b", "{}/x/../a b"])
def test_a_folder_is_a_path_or_a_file_url(tmp_path: Path, url: str) -> None:
    store = open_artifacts(url.format(tmp_path), tmp_path, {})
    assert isinstance(store, FolderArtifacts)
    assert Path(store.location).resolve() == tmp_path / "a b"


def test_a_location_in_s3_has_options_and_the_environment_fills_in_what_it_leaves_out() -> None:
    assert location_of("s3://my-bucket") == S3Location("my-bucket", "", None, "us-east-1")
    assert location_of("s3://my-bucket/").text == "s3://my-bucket"
    url = (
        "s3://b.1/a/b-c/?endpoint=https://s3.example.org/&region=eu-central-1&encryption=aws:kms&kms_key=arn:aws:kms:x"
    )
    found = location_of(url, AWS_REGION="us-west-1", AWS_ENDPOINT_URL_S3="https://other.example.org")
    assert found == S3Location("b.1", "a/b-c", "https://s3.example.org", "eu-central-1", "aws:kms", "arn:aws:kms:x")
    found = location_of("s3://bucket", AWS_DEFAULT_REGION="us-west-1", AWS_ENDPOINT_URL="https://other.example.org")
    assert (found.endpoint, found.region) == ("https://other.example.org", "us-west-1")
    assert location_of("s3://bucket?endpoint=http://10.0.0.1&allow_http=true").host == "http://10.0.0.1"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s4://bucket", "cannot begin with s4:. It is a folder"),
        ("s3:/bucket", "cannot begin with s3:."),
        ("s3//bucket", "is no whole path"),
        ("artifacts", "is no whole path"),
        ("https://s3.amazonaws.com/bucket", "It is a folder (/PATH or file:///PATH) or s3://BUCKET/PREFIX."),
        ("file://host/folder", "cannot be read"),
        ("file:relative", "cannot be read"),
        ("s3://", "names no bucket"),
        ("s3:///prefix", "names no bucket"),
        ("s3://a/prefix", "names no bucket"),
        ("s3://bucket:99/x", "names no bucket"),
        ("s3://bucket/../other", "The prefix in PROCTOR_ARTIFACTS_URL is made of"),
        ("s3://bucket/a//b", "The prefix in PROCTOR_ARTIFACTS_URL is made of"),
        ("s3://bucket/a%2f..%2fb", "The prefix in PROCTOR_ARTIFACTS_URL is made of"),
        ("s3://bucket?endpont=https://x", "no option 'endpont'. Did you mean 'endpoint'?"),
        ("s3://bucket?endpoint", "cannot be read"),
        ("s3://bucket?endpoint=", "endpoint in PROCTOR_ARTIFACTS_URL has no value"),
        ("s3://bucket?region=a&region=b", "names an option twice"),
        ("s3://bucket?endpoint=s3.example.org", "The endpoint in PROCTOR_ARTIFACTS_URL is https://HOST"),
        ("s3://bucket?endpoint=https://x:port", "The endpoint in PROCTOR_ARTIFACTS_URL is https://HOST"),
        ("s3://bucket?endpoint=http://10.0.0.1", "must say allow_http=true"),
        (
            "s3://bucket?endpoint=http://10.0.0.1&allow_http=maybe",
            "allow_http in PROCTOR_ARTIFACTS_URL is true or false",
        ),
        ("s3://bucket?encryption=aes256", "is AES256 or aws:kms, not 'aes256'"),
        ("s3://bucket?kms_key=1", "kms_key in PROCTOR_ARTIFACTS_URL needs encryption=aws:kms"),
    ],
)
def test_a_mistake_is_one_clear_line(cli: Cli, monkeypatch: pytest.MonkeyPatch, url: str, said: str) -> None:
    monkeypatch.setenv("PROCTOR_ARTIFACTS_URL", url)
    ended = cli("run", "puzzles", "-m", "demo/strong", "--limit", "1")
    assert (ended.code, said in ended.error) == (2, True), ended.err


@pytest.mark.parametrize(
    "url",
    [
        f"s3://{KEY}:secret@bucket/x",
        f"s3://bucket?{HERE}&access_key_id={KEY}",
        f"s3://bucket?endpoint=https://{KEY}:x@host",
    ],
)
def test_keys_in_the_url_are_refused_and_not_shown(url: str) -> None:
    with pytest.raises(UserError) as refused:
        location_of(url)
    assert KEY not in str(refused.value)
    assert "secret" not in str(refused.value)


def test_without_obstore_it_is_said_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "proctor.stores.artifacts.s3", raising=False)
    monkeypatch.setenv("PROCTOR_ARTIFACTS_URL", f"s3://bucket?{HERE}")
    (finding,) = [one for one in cli("doctor", "--json").json if one["name"] == "artifacts"]
    assert (finding["state"], finding["detail"]) == (
        "problem",
        "Artifacts in S3 need the package obstore: pip install 'proctor[s3]'.",
    )
    assert cli("run", "puzzles", "-m", "demo/strong", "--limit", "1").code == 0  # which has no artifacts


def test_artifacts_are_in_the_home_also_with_a_database_elsewhere(tmp_path: Path) -> None:
    environment = {"PROCTOR_HOME": str(tmp_path / "home")}
    home = str(tmp_path / "home/artifacts")
    elsewhere = {**environment, "PROCTOR_DATABASE_URL": f"sqlite:///{tmp_path}/db/results.db?timeout=5"}
    assert Settings.from_environment(environment).artifacts_url == home
    assert Settings.from_environment(elsewhere).artifacts_url == home
    assert Settings.from_environment({**environment, "PROCTOR_DATABASE_URL": "postgresql://x/y"}).artifacts_url == home
    named = Settings.from_environment({**elsewhere, "PROCTOR_ARTIFACTS_URL": "s3://bucket/x"})
    assert named.artifacts_url == "s3://bucket/x"


def test_artifacts_that_the_first_version_kept_beside_the_database_are_still_found(tmp_path: Path) -> None:
    beside = tmp_path / "db/artifacts"
    elsewhere = {"PROCTOR_HOME": str(tmp_path / "home"), "PROCTOR_DATABASE_URL": f"sqlite:///{tmp_path}/db/results.db"}
    (beside / "of another program").mkdir(parents=True)
    assert Settings.from_environment(elsewhere).artifacts_url == str(tmp_path / "home/artifacts")
    key = FolderArtifacts(beside).put("program.zip", b"kept by an earlier version")
    settings = Settings.from_environment(elsewhere)
    found = open_artifacts(settings.artifacts_url, settings.waiting, {})
    assert found.get(key) == b"kept by an earlier version"
