"""The dashboard as plain files: the built pages, and the documents they show."""

from __future__ import annotations

import importlib.resources
import shutil
from pathlib import Path

from proctor.domain.documents.document import json_bytes
from proctor.domain.errors import UserError
from proctor.runs.site import site_documents
from proctor.stores.database import Database

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'"
)
HEAD = f"""<meta http-equiv="Content-Security-Policy" content="{POLICY}" />
    <meta name="proctor-data" content="data" />
  </head>"""


def write_site(database: Database, folder: Path) -> int:
    """Writes the site into an empty or new folder; gives the number of files."""
    built = Path(str(importlib.resources.files("proctor"))) / "server" / "dashboard"
    if not (built / "index.html").is_file():
        raise UserError("This installation has no dashboard to export: python scripts/build_dashboard.py builds it.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty: name a new folder, or an empty one.")
    try:
        shutil.copytree(built / "assets", folder / "assets")
        shutil.copy(built / "icon.svg", folder / "icon.svg")
        page = (built / "index.html").read_text(encoding="utf-8")
        # Wherever the folder is put, the page finds what lies beside it.
        page = page.replace('"/assets/', '"./assets/').replace('"/icon.svg"', '"./icon.svg"')
        (folder / "index.html").write_text(page.replace("</head>", HEAD), encoding="utf-8")
        for name, document in site_documents(database):
            path = folder / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(json_bytes(document))
    except OSError as error:
        raise UserError(f"The site cannot be written to {folder}: {error.strerror}.") from None
    return sum(1 for path in folder.rglob("*") if path.is_file())
