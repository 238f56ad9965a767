"""Files of deployments: the Dockerfile, manifests and the chart, workflows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import yaml

from scans.kubernetes import violations
from scans.result import ROOT, ScanResult, call, find_tool, missing

CHART = ROOT / "deploy" / "helm" / "proctor"
OF_OPERATORS = {"ExternalSecret", "PodMonitor"}
KUBERNETES = "1.33"


def scan_dockerfiles(paths: Sequence[Path] = (ROOT / "deploy" / "image" / "Dockerfile",)) -> ScanResult:
    tool = find_tool("hadolint")
    if tool is None:
        return missing("hadolint")
    done = call([tool, "--no-fail", "-f", "json", *paths])
    rows = json.loads(done.stdout)
    found = [f"{Path(row['file']).name}:{row['line']}: {row['code']} {row['message']}" for row in rows]
    return ScanResult(tuple(found), f"{len(paths)} Dockerfile")


def scan_manifests(texts: Sequence[str] | None = None) -> ScanResult:
    """The plain manifests and the chart with each of its files of values, or the texts that are given."""
    import kubernetes_validate

    found = []
    if texts is None:
        texts = [path.read_text() for path in sorted((ROOT / "deploy" / "kubernetes").glob("*.yaml"))]
        tool = find_tool("helm")
        if tool is None:
            return missing("helm")
        for values in sorted(CHART.glob("values*.yaml")):
            linted = call([tool, "lint", "--strict", "-f", values, CHART])
            if linted.returncode:
                found.append(f"{values.name}: {linted.stdout.strip()}")
            texts.append(call([tool, "template", "proctor", CHART, "-f", values]).stdout)
    manifests = [one for text in texts for one in yaml.safe_load_all(text) if one]
    for manifest in manifests:
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        found += [f"{name}: {one}" for one in violations(manifest)]
        if manifest["kind"] in OF_OPERATORS:
            continue
        try:
            kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
        except kubernetes_validate.ValidationError as error:
            found.append(f"{name}: {error.message}")
    return ScanResult(tuple(dict.fromkeys(found)), f"{len(manifests)} manifests")


def scan_workflows(places: Sequence[Path] = (ROOT / ".github", ROOT / "action.yml")) -> ScanResult:
    tool = find_tool("zizmor")
    if tool is None:
        return missing("zizmor")
    done = call([tool, "--offline", "--format", "json", "--no-exit-codes", *places])
    rows = json.loads(done.stdout)
    found = []
    for row in rows:
        place = next(one for one in row["locations"] if one["symbolic"]["kind"] == "Primary")
        name = place["symbolic"]["key"]["Local"]["verbatim_path"]
        found.append(f"{name}:{place['concrete']['location']['start_point']['row'] + 1}: {row['ident']}: {row['desc']}")
    return ScanResult(tuple(found), "workflows and the action")
