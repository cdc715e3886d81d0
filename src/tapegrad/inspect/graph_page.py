"""The page of a graph: one HTML file with the data, the drawing library and the program in it."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from tapegrad.inspect.flow import Flow
from tapegrad.inspect.record import Edge, Kept, Record, Vertex
from tapegrad.inspect.rule_text import RuleText

_FOLDER = Path(__file__).parent / "page"
_PACKAGE = Path(__file__).parents[1]
_LIBRARIES = ("cytoscape.min.js", "dagre.min.js")
_SCRIPTS = ("model.js", "layout.js", "view.js", "panel.js", "stepping.js", "main.js")


def page(graph: Any) -> str:
    """The whole page of a Graph."""
    text = json.dumps(_data(graph.record, graph.title), separators=(",", ":"), allow_nan=False)
    return Template(_read("page.html")).substitute(
        title=escape(graph.title),
        style=_read("page.css"),
        data=text.replace("<", "\\u003c"),  # nothing in it may end the script it stands in
        libraries="\n".join(map(_read, _LIBRARIES)),
        script="\n".join(map(_read, _SCRIPTS)),
    )


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _data(record: Record, title: str) -> dict:
    """What the page shows; rules, which many nodes share, stand in it once."""
    rules: dict[int, int] = {}
    texts: list[dict] = []
    for vertex in record.vertices:
        for rule in vertex.rules:
            if id(rule) not in rules:
                rules[id(rule)] = len(texts)
                texts.append(
                    {"formula": rule.formula, "source": rule.source, "place": _place(rule)}
                )
    timed = sorted((v.time, v.number) for v in record.vertices if v.time is not None)
    return {
        "title": title,
        "start": record.start or 1.0,
        "bytes": record.n_bytes,
        "rules": texts,
        "vertices": [_vertex(v, rules) for v in record.vertices],
        "edges": [_edge(e) for e in record.edges],
        "groups": [
            {
                "name": g.name,
                "label": g.label,
                "kind": g.kind,
                "parent": -1 if g.parent is None else g.parent.number,
            }
            for g in record.groups
        ],
        "timed": [number for _, number in timed],
    }


def _place(rule: RuleText) -> str:
    """Where a rule stands, from the name of the package if it is one of tapegrad's."""
    path = Path(rule.file)
    inside = path.is_relative_to(_PACKAGE)
    return f"{path.relative_to(_PACKAGE.parent).as_posix() if inside else path}:{rule.line}"


def _vertex(v: Vertex, rules: dict[int, int]) -> dict:
    return {
        "kind": v.kind,
        "name": v.name,
        "shape": v.size,
        "dtype": v.dtype or "",
        "doc": v.doc,
        "values": v.values,
        "rules": [rules[id(rule)] for rule in v.rules],
        "kept": None if v.kept is None else [_kept(k) for k in v.kept],
        "module": v.module,
        "place": v.place,
        "code": v.code,
        "group": -1 if v.group is None else v.group.number,
        "time": v.time,
        "received": [None if f is None else _flow(f) for f in v.received],
    }


def _kept(kept: Kept) -> dict:
    shape = "" if not kept.is_tensor else "tensors" if kept.shape is None else str(kept.shape)
    return {"name": kept.name, "text": kept.text, "shape": shape, "bytes": kept.n_bytes}


def _edge(e: Edge) -> dict:
    return {
        "source": e.source.number,
        "target": e.target.number,
        "input": e.input,
        "port": e.port,
        "state": e.state,
        "flow": None if e.flow is None else _flow(e.flow),
    }


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
        "shape": str(flow.shape),
    }


def _rounded(x: float) -> float:
    return float(f"{min(max(x, -1e308), 1e308):.5g}")  # JSON has no infinity
