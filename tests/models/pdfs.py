"""Small PDF files, made for tests."""

from __future__ import annotations

import textwrap
import zlib


def compressed(pages: list[str]) -> bytes:
    """A PDF with much text on each page, all of it visible, in few bytes."""
    return pdf([") Tj T* (".join(textwrap.wrap(page, 1_000)) for page in pages], is_compressed=True)


def pdf(
    pages: list[str], *, extra: str = "", title: str = "", outline: str = "", is_compressed: bool = False
) -> bytes:  # fmt: skip
    """A PDF with one line of text on each page; `extra` goes into the trailer."""
    size, top = ("14400 14400", 14000) if is_compressed else ("300 200", 100)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    after = 4 + 2 * len(pages)
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {f'/Outlines {after + 1} 0 R' if outline else ''} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {size}] /Contents {5 + 2 * number} 0 R "
        objects.append(page + "/Resources << /Font << /F1 3 0 R >> >> >>")
        stream = f"BT /F1 12 Tf 12 TL 20 {top} Td ({text}) Tj ET"
        if is_compressed:
            stream = zlib.compress(stream.encode("latin-1"), 9).decode("latin-1")
        how = "/Filter /FlateDecode " if is_compressed else ""
        objects.append(f"<< {how}/Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    if outline:
        objects.append(f"<< /Type /Outlines /First {after + 2} 0 R /Last {after + 2} 0 R /Count 1 >>")
        objects.append(f"<< /Title ({outline}) /Parent {after + 1} 0 R /Dest [4 0 R /Fit] >>")
    extra += f" /Info {after} 0 R" if title else ""
    out, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(
        f"{offset:010} 00000 n \n" for offset in offsets
    )
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {extra} >>\nstartxref\n{start}\n%%EOF\n"
    return out.encode("latin-1")


LOCKED = pdf(
    ["secret"],
    extra="/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"
    + "ab" * 32
    + "> /U <"
    + "cd" * 32
    + "> >> /ID [<00><00>]",
)
