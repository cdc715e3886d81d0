"""Links to the playground that carry a program, compressed behind the #, as link.js reads it."""

import base64
import zlib
from pathlib import Path

from tools.notebooks import ANSWER, BLOCK

PLACE = "playground/index.html"


def link(page: Path) -> str:
    """The address, within the site, of the playground with the programs of a page of the course."""
    text = ANSWER.sub("", page.read_text(encoding="utf-8"))
    code = "\n\n".join(block["code"] for block in BLOCK.finditer(text))
    return f"{PLACE}#code={packed(code)}"


def packed(code: str) -> str:
    """A program as letters of an address."""
    press = zlib.compressobj(level=9, wbits=-zlib.MAX_WBITS)
    data = press.compress(code.encode()) + press.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
