"""Uploaded files in a bucket: kept there, read in parts from there, downloaded by a link for a while, and gone."""

from __future__ import annotations

import io
import os
from pathlib import Path
from urllib.request import ProxyHandler, build_opener

import pytest

from fakes.s3_server import S3Server
from models.pdfs import pdf
from proctor.domain.errors import NotFoundError
from proctor.runs.storage.files import delete_file, keep_file, link_file, open_file, prune_files, read_file_text
from proctor.stores.artifacts.opening import open_artifacts
from proctor.stores.database import Database

pytestmark = pytest.mark.sqlite


def test_a_file_in_a_bucket_is_read_in_parts_linked_and_deleted(
    s3: S3Server, prefix: str, database: Database, waiting: Path
) -> None:
    artifacts = open_artifacts(s3.url(prefix), waiting, os.environ)
    content = b"".join(b"%07d\n" % n for n in range(1_500_000))  # 12 MB: sent and read in parts
    kept = keep_file(database, artifacts, io.BytesIO(content), "large.txt", "ann", days=1)
    body = open_file(database, artifacts, kept.file_id)
    assert b"".join(body.part(0, body.size_bytes)) == content
    assert b"".join(body.part(8_388_600, 8_388_620)) == content[8_388_600:8_388_620]
    link = link_file(database, artifacts, kept.file_id)
    with build_opener(ProxyHandler({})).open(link.url, timeout=60) as answer:
        assert answer.read() == content
    document = keep_file(database, artifacts, io.BytesIO(pdf(["one", "two"])), "d.pdf", "ann", days=-1)
    assert prune_files(database, artifacts) == 1
    with pytest.raises(NotFoundError):
        read_file_text(database, artifacts, document.file_id)
    delete_file(database, artifacts, kept.file_id)
    assert list(artifacts.keys()) == []
