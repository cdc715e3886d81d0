"""Where a page is shown: in a browser, or inside the page of a notebook."""

from __future__ import annotations

import base64
import gzip
import os
import sys
import tempfile
import webbrowser
from html import escape
from pathlib import Path

_UNPACKING = """<!doctype html><script>
new Response(new Blob([Uint8Array.from(atob("PAGE"), (c) => c.charCodeAt(0))]).stream()
  .pipeThrough(new DecompressionStream("gzip"))).text().then((page) => {
    document.open();
    document.write(page);
    document.close();
  });
</script>"""
_STYLE = (
    "display:block;box-sizing:border-box;width:100%;height:640px;"
    "border:1px solid #8884;border-radius:6px"
)


def framed(page: str) -> str:
    """A page as a part of another one, packed: most of it is a library.

    >>> from tapegrad.inspect.showing import framed
    >>> framed("<!doctype html>")[:7]
    '<iframe'
    """
    packed = base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode()
    inner = escape(_UNPACKING.replace("PAGE", packed))
    return f'<iframe srcdoc="{inner}" style="{_STYLE}"></iframe>'


def folder() -> str:
    """A new folder that a browser can read.

    The browsers that Ubuntu installs as snaps see no /tmp, but a folder in the home directory.
    """
    for browser in ("firefox", "chromium"):
        home = Path.home() / "snap" / browser / "common"
        if home.is_dir():
            return tempfile.mkdtemp(prefix="tapegrad-", dir=home)
    return tempfile.mkdtemp(prefix="tapegrad-")


def opened(path: str) -> bool:
    """Open a page in a browser that draws; one of the terminal counts if it is asked for."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    if type(browser) is webbrowser.GenericBrowser and "BROWSER" not in os.environ:
        return False  # lynx, w3m and the like
    return webbrowser.open(Path(path).as_uri())


def in_notebook() -> bool:
    """Whether there is a notebook, or another page, that shows what is displayed."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")
