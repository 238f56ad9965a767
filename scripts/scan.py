"""`make scan`: every scan that can be had here; fails where one finds something, and says what was not measured."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from scans import dependencies, deployment, secrets, service, source
from scans.result import ScanResult

SCANS: dict[str, Callable[[], ScanResult]] = {
    "locks": dependencies.scan_locks,
    "advisories": dependencies.scan_advisories,
    "npm-advisories": dependencies.scan_npm_advisories,
    "secrets": secrets.scan_secrets,
    "source": source.scan_source,
    "dockerfile": deployment.scan_dockerfiles,
    "manifests": deployment.scan_manifests,
    "workflows": deployment.scan_workflows,
    "service": service.scan_service,
}


def main(arguments: list[str] | None = None) -> int:
    reader = argparse.ArgumentParser(prog="scripts/scan.py", description=__doc__)
    reader.add_argument("names", nargs="*", help=f"only these: {', '.join(SCANS)}")
    reader.add_argument("--strict", action="store_true", help="what is not measured fails, too")
    given = reader.parse_args(arguments)
    unknown = [name for name in given.names if name not in SCANS]
    if unknown:
        reader.error(f"there is no scan {unknown[0]!r}; there are: {', '.join(SCANS)}")
    has_failed = False
    for name in given.names or SCANS:
        result = SCANS[name]()
        if result.not_measured is not None:
            print(f"{name}: not measured: {result.not_measured}")
            has_failed |= given.strict
            continue
        print(f"{name}: {len(result.findings) or 'nothing'} found ({result.looked_at})")
        for finding in result.findings:
            print(f"  {finding}")
        has_failed |= bool(result.findings)
    return int(has_failed)


if __name__ == "__main__":
    sys.exit(main())
