"""Notebook representations: small pieces of HTML around what objects print."""

from html import escape

import numpy as np

from tapegrad.core.annotations import Any, ModuleLike, Sequence

_CELL = "padding:2px 8px;border:0;background:transparent;white-space:pre;"
_BAR = "height:9px;background:#4c78c9;"
_LINE = "border-bottom:1px solid rgba(128,128,128,.45);"


def page_table(
    head: str,
    titles: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    n_text: int,
    note: str = "",
    bars: Sequence[float] = (),
) -> str:
    """A table with a line above it; its first `n_text` columns are text, the others numbers.

    `bars` are parts of one, drawn at the end of each row.

    >>> from tapegrad.inspect.notebook import page_table
    >>> "<td" in page_table("Two", ["name", "n"], [["a", "1"]], n_text=1)
    True
    """

    def cell(tag: str, i: int, text: str, line: str = "") -> str:
        side = "left" if i < n_text else "right"
        return f'<{tag} style="{_CELL}{line}text-align:{side}">{escape(text)}</{tag}>'

    lines = ["".join(cell("th", i, title, _LINE) for i, title in enumerate(titles))]
    lines += ["".join(cell("td", i, text) for i, text in enumerate(row)) for row in rows]
    for i, share in enumerate(bars[: len(rows)]):
        lines[i + 1] += (
            f'<td style="{_CELL}"><div style="{_BAR}width:{80 * share:.0f}px"></div></td>'
        )
    body = "".join(f'<tr style="background:transparent">{line}</tr>' for line in lines)
    return (
        f'<div style="font-size:12px;overflow-x:auto"><div style="margin:4px 0"><b>{escape(head)}'
        '</b></div><table style="border-collapse:collapse;font-family:monospace;font-size:12px;'
        f'margin:0">{body}</table>{escape(note)}</div>'
    )


def page_text(text: str) -> str:
    """Text as it is printed, its columns kept."""
    style = "font:12px/1.35 monospace;white-space:pre;margin:0;background:transparent;"
    style += "overflow-x:auto"
    return f'<pre style="{style}">{escape(text)}</pre>'


_MOST_ROWS = 30


def tensor_html(x: Any) -> str:
    """A tensor: what it is in one line, then its values as they are printed.

    >>> from tapegrad.inspect.notebook import tensor_html
    >>> "float32, on cpu" in tensor_html(torch.ones(2, 3))
    True
    """
    shape = " x ".join(map(str, x.shape)) if x.dim() else "one number"
    shape += " numbers" if x.dim() == 1 else ""
    facts = [f"{str(x.dtype).removeprefix('torch.')}, on {x.device}"]
    if x.numel() > 1 and x.dtype.is_floating_point and type(x._array) is np.ndarray:
        values = x.detach().double()
        least, mean, most = (float(f()) for f in (values.min, values.mean, values.max))
        facts.append(f"from {least:.4g} to {most:.4g}, mean {mean:.4g}")
    if x.grad_fn is not None:
        facts.append(f"made by {x.grad_fn.name()}")
    elif x.requires_grad:
        facts.append("requires grad")
    head = f"<b>{escape(shape)}</b> {escape('; '.join(facts))}"
    return f'<div style="font-size:12px;margin:4px 0">{head}</div>{page_text(repr(x))}'


def module_html(module: ModuleLike) -> str:
    """A layer, its inner layers folded below it, each with the number of its parameters.

    >>> from tapegrad.inspect.notebook import module_html
    >>> "Linear(in_features=2, out_features=3, bias=True)" in module_html(torch.nn.Linear(2, 3))
    True
    """
    style = "font-family:monospace;font-size:12px;line-height:1.5"
    return f'<div style="{style}">{_layer(module, "", 0)}</div>'


def _layer(module: ModuleLike, name: str, depth: int) -> str:
    n = sum(param.numel() for param in module.parameters())
    title = f"<b>{escape(name)}</b> " if name else ""
    title += escape(f"{module._get_name()}({module.extra_repr()})")
    title += f' <span style="opacity:.65">{n:,} parameters</span>' if n else ""
    inner = [(key, child) for key, child in module._modules.items() if child is not None]
    if not inner:
        return f'<div style="margin-left:1.1em">{title}</div>'
    below = "".join(_layer(child, key, depth + 1) for key, child in inner)
    opened = " open" if depth < 2 else ""
    return (
        f"<details{opened}><summary>{title}</summary>"
        f'<div style="margin-left:1.3em">{below}</div></details>'
    )


def events_html(events: Any) -> str:
    """A profile: what took most time itself, with a bar for its share.

    >>> from tapegrad.inspect.notebook import events_html
    >>> with torch.profiler.profile() as prof:
    ...     y = torch.ones(2) * 2
    >>> "aten::mul" in events_html(prof.key_averages())
    True
    """
    from tapegrad.profiler.event import EVALUATE, format_time

    total = sum(event.self_cpu_time_total for event in events)
    # What surrounds a node takes no time itself.
    shown = [event for event in events if not event.key.startswith(EVALUATE)]
    ranked = sorted(shown, key=lambda event: -event.self_cpu_time_total)
    rows = [
        [
            event.key if len(event.key) <= 55 else event.key[:52] + "...",
            f"{100 * event.self_cpu_time_total / total:.1f} %" if total else "",
            format_time(event.self_cpu_time_total),
            format_time(event.cpu_time_total),
            format_time(event.cpu_time),
            f"{event.count:,}",
        ]
        for event in ranked[:_MOST_ROWS]
    ]
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls"]
    more = len(ranked) - len(rows)
    return page_table(
        f"Self CPU time total: {format_time(total)}",
        titles,
        rows,
        n_text=1,
        note=f"... and {more} more" if more > 0 else "",
        bars=[event.self_cpu_time_total / total if total else 0.0 for event in ranked],
    )
