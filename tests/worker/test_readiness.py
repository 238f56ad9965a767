"""A server whose broker goes away names it, and is ready again by itself when it is back."""

from __future__ import annotations

from pathlib import Path

from server.serving import Server, serving
from worker.cluster import Cluster, wait_until


def test_ready_names_redis_while_it_is_away_and_recovers_by_itself(cluster: Cluster, tmp_path: Path) -> None:
    environment = {"PROCTOR_DATABASE_URL": cluster.database_url, "PROCTOR_BROKER_URL": cluster.redis.url}
    with serving(tmp_path / "server-home", tmp_path, **environment) as server:
        assert server.ask("GET", "/ready").status == 200
        cluster.redis.end()
        answer = server.ask("GET", "/ready")
        assert (answer.status, answer.json) == (503, {"down": ["redis"]})
        assert server.ask("GET", "/health").status == 200
        assert broker(server)["state"] == "down"
        cluster.redis.start()
        wait_until(lambda: server.ask("GET", "/ready").status == 200, "ready")
        assert broker(server)["state"] == "ok"


def broker(server: Server) -> dict[str, str]:
    [found] = [one for one in server.get("/api/v1/status")["services"]["checks"] if one["name"] == "broker"]
    return dict(found)
