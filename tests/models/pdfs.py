"""Small PDF files, made for tests."""

from __future__ import annotations


def pdf(pages: list[str], *, extra: str = "", title: str = "", outline: str = "") -> bytes:
    """A PDF with one line of text on each page; `extra` goes into the trailer."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    after = 4 + 2 * len(pages)
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {f'/Outlines {after + 1} 0 R' if outline else ''} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents {5 + 2 * number} 0 R "
        objects.append(page + "/Resources << /Font << /F1 3 0 R >> >> >>")
        stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
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
