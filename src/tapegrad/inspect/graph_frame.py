"""The page of a graph as an output of a notebook: a frame, packed, most of it shared by all."""

import base64
import gzip
import hashlib
import json
import sys
from html import escape
from string import Template
from typing import Any

from tapegrad.inspect.graph_page import data_of, empty_page, read

_STYLE = (
    "display:block;box-sizing:border-box;width:100%;height:640px;"
    "border:1px solid #8884;border-radius:6px"
)


class _Notebook:
    """Which run of which cell has the page in its output."""

    holder: tuple | None = None

    def needs_page(self) -> bool:
        """Whether an output has to bring the page: the first, or what replaces it."""
        run = _running_cell()
        if run is None or self.holder is None:
            replaced = True
        else:
            replaced = run[0] == self.holder[0] and run != self.holder
        if replaced:
            self.holder = run
        return replaced


_NOTEBOOK = _Notebook()


def in_notebook() -> bool:
    """Whether there is a notebook, or another page, that shows what is displayed."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def _running_cell() -> tuple | None:
    """The cell that runs, by its number or its code, and which run of it; None: no notebook."""
    if not in_notebook():
        return None
    shell: Any = sys.modules["IPython"].get_ipython()
    asked = shell.get_parent()
    cell = asked.get("metadata", {}).get("cellId") or asked.get("content", {}).get("code", "")
    return cell, shell.execution_count


def framed(graph: Any) -> str:
    """The page of a Graph as a part of another one.

    In a notebook the first output has the page, the others only their graphs.

    >>> from tapegrad.inspect.graph_frame import framed
    >>> x = torch.ones(2, requires_grad=True)
    >>> framed(tapegrad.inspect.graph(x.exp()))[:7]
    '<iframe'
    """
    page = empty_page()
    text = json.dumps({"title": escape(graph.title), "data": data_of(graph)})
    inner = Template(read("frame.html")).substitute(
        key=f"tapegrad-{hashlib.sha256(page.encode()).hexdigest()[:12]}",
        page=_packed(page) if _NOTEBOOK.needs_page() else "",
        graph=_packed(text),
    )
    return f'<iframe srcdoc="{escape(inner)}" style="{_STYLE}"></iframe>'


def _packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
