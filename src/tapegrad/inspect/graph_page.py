"""The page of a graph: one HTML file with the data, the drawing library and the program in it."""

import bz2
import json
import os
import tempfile
import webbrowser
from collections import Counter
from collections.abc import Callable
from html import escape
from math import isfinite
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from tapegrad.inspect.record import Edge, Group, Kept, Record, Vertex
from tapegrad.inspect.rule_text import RuleText
from tapegrad.inspect.stepping import Flow

if TYPE_CHECKING:
    from tapegrad.compiler.parts import Part


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


_FOLDER = Path(__file__).parent / "page"
_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = ("cytoscape.min.js.bz2", "dagre.min.js.bz2")
_SCRIPTS = (
    "model.js columns.js sides.js layout.js style.js view.js minimap.js panel.js program.js "
    "stepping.js export.js main.js"
).split()


def page(graph: Any) -> str:
    """The whole page of a Graph."""
    return _filled(escape(graph.title), data_of(graph))


def empty_page() -> str:
    """The page with @title@ and @data@ where those of a graph stand."""
    return _filled("@title@", "@data@")


def data_of(graph: Any) -> str:
    """What the page shows of a Graph, as JSON; nothing in it may end the script it stands in."""
    text = json.dumps(_Data(graph.record, graph.title).all, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _filled(title: str, data: str) -> str:
    return Template(read("page.html")).substitute(
        title=title,
        style=read("page.css"),
        data=data,
        libraries="\n".join(map(read, _LIBRARIES)),
        script="\n".join(map(read, _SCRIPTS)),
    )


def read(name: str) -> str:
    """A file of the page."""
    content = (_FOLDER / name).read_bytes()
    return (bz2.decompress(content) if name.endswith(".bz2") else content).decode()


class _Shared:
    """What many parts of a page say the same of: written once, and numbered."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self._number: dict[Any, int] = {}

    def number(self, key: object, make: Callable | None = None, *args: object) -> int:
        """The number of `make(*args)`, or of `key` itself; equal keys have the same one."""
        if key not in self._number:
            self._number[key] = len(self.all)
            self.all.append(key if make is None else make(*args))
        return self._number[key]


class _Data:
    """What the page shows. Rules, words and gradients that many nodes share stand in it once."""

    def __init__(self, record: Record, title: str):
        self.words, self.rules, self.flows = _Shared(), _Shared(), _Shared()
        self.programs = _Shared()
        vertices = [self.vertex(v) for v in record.vertices]
        edges = [self.edge(e) for e in record.edges]
        timed = sorted((v.time, v.number) for v in record.vertices if v.time is not None)
        self.all = {
            "title": title,
            "start": record.start or 1.0,
            "bytes": record.n_bytes,
            "words": self.words.all,
            "rules": self.rules.all,
            "flows": self.flows.all,
            "vertices": vertices,
            "edges": edges,
            "groups": [_group(g) for g in record.groups],
            "timed": [number for _, number in timed],
            "program": record.program,
            "programs": self.programs.all,
        }

    def vertex(self, v: Vertex) -> dict:
        word = self.words.number
        return {
            "kind": v.kind,
            "name": word(v.name),
            "shape": v.size,
            "dtype": word(v.dtype or ""),
            "doc": word(v.doc),
            "values": v.values,
            "rules": [self.rules.number(id(rule), _rule, rule) for rule in v.rules],
            "kept": None if v.kept is None else [_kept(k) for k in v.kept],
            "module": word(v.module),
            "place": word(v.place),
            "code": word(v.code),
            "group": -1 if v.group is None else v.group.number,
            "time": v.time,
            "received": [self.flow(f) for f in v.received],
            "program": None if v.program is None else self.program(v.program),
            "part": None if v.part is None else self.part(v.part),
        }

    def program(self, record: Any) -> int:
        """The number of the page's data of a program that a vertex runs."""
        return self.programs.number(id(record), lambda: _Data(record, record.program["name"]).all)

    def part(self, part: "Part") -> dict:
        word = self.words.number
        uses = [
            [[word(x.name), str(x.shape), x.n_bytes] for x in each]
            for each in (part.reads, part.writes)
        ]
        return {
            "kind": part.kind,
            "operators": Counter(part.operators),
            "flops": part.flops,
            "bytes": part.n_bytes,
            "seconds": part.seconds,
            "limit": part.limit,
            "reads": uses[0],
            "writes": uses[1],
            "lines": "\n".join(part.lines),
            "functions": [word(x) for x in part.functions],
        }

    def edge(self, e: Edge) -> dict:
        return {
            "source": e.source.number,
            "target": e.target.number,
            "input": self.words.number(e.input),
            "port": e.port,
            "state": e.state,
            "why": self.words.number(e.why),
            "flow": self.flow(e.flow),
        }

    def flow(self, flow: Flow | None) -> int | None:
        return None if flow is None else self.flows.number(flow.key(), _flow, flow)


def _flow(flow: Flow) -> dict:
    return {
        "norm": _rounded(flow.norm),
        "low": _rounded(flow.low),
        "high": _rounded(flow.high),
        "n": flow.n,
        "nan": flow.n_nan,
        "inf": flow.n_inf,
        "zero": flow.n_zero,
        "bins": flow.bins,
        "values": _plain(flow.values),
        "shape": str(flow.shape),
    }


def _group(g: Group) -> dict:
    parent = -1 if g.parent is None else g.parent.number
    return {"name": g.name, "label": g.label, "kind": g.kind, "parent": parent}


def _rule(rule: RuleText) -> dict:
    """A rule, and where it stands: from the name of the package if it is one of tapegrad's."""
    path = Path(rule.file)
    inside = path.is_relative_to(_PACKAGE)
    place = f"{path.relative_to(_PACKAGE.parent).as_posix() if inside else path}:{rule.line}"
    return {
        "formula": rule.formula,
        "source": rule.source,
        "place": place,
        "names": list(rule.names),
    }


def _kept(kept: Kept) -> dict:
    shape = "" if not kept.is_tensor else "tensors" if kept.shape is None else str(kept.shape)
    return {"name": kept.name, "text": kept.text, "shape": shape, "bytes": kept.n_bytes}


def _plain(values: Any) -> Any:
    """Numbers in lists; those that JSON has not as words."""
    if isinstance(values, list):
        return [_plain(x) for x in values]
    return values if values is None or isfinite(values) else str(values)


def _rounded(x: float) -> float:
    return float(f"{min(max(x, -1e308), 1e308):.5g}")  # JSON has no infinity
