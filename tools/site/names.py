"""The public names of the reference, and the page of each."""

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import tapegrad
from tapegrad.inspect.where import declaration
from tapegrad.operators.loading import load_operators

MODULES = """
torch.Tensor torch.amp torch.autograd torch.autograd.forward_ad torch.autograd.functional
torch.autograd.graph torch.autograd.profiler torch.backends torch.backends.native torch.compat
torch.compiler torch.data torch.distributed torch.distributions torch.fft torch.func torch.futures
torch.fx torch.hub torch.inspect torch.inspect.plot torch.jit torch.library torch.linalg
torch.masked torch.nn torch.nn.attention torch.nn.functional torch.nn.init torch.nn.parallel
torch.nn.utils torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.rnn
torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.overrides torch.profiler
torch.quasirandom torch.random torch.safetensors torch.serialization torch.signal.windows
torch.sparse torch.special torch.testing torch.utils.benchmark torch.utils.checkpoint
torch.utils.data torch.utils.flop_counter torch.utils.hooks torch.utils.tensorboard
""".split()
"""Modules with a page of their own, beside the families of `torch` itself."""

FAMILIES = {
    "conversion": "dtypes and devices",
    "creation": "making tensors",
    "fft": "Fourier transforms",
    "indexing": "indexing, masks, scattering",
    "linalg": "linear algebra",
    "nn": "layers as functions",
    "pointwise": "element by element",
    "random": "random numbers",
    "reduction": "sums, extrema, sorting",
    "shape": "shapes and views",
}
"""What the folders of `operators` hold, for the titles of pages."""


class Entry(NamedTuple):
    """A public name, and what it stands for."""

    name: str
    value: Any


class Page(NamedTuple):
    """A page of the reference: what it describes, and names of what other entries describe."""

    path: str
    module: str
    title: str
    about: str
    entries: list[Entry]
    others: dict[str, str]


def owner_of(module: str) -> Any:
    """The module or class that is called `module`."""
    if module == "torch.Tensor":
        return tapegrad.Tensor
    return import_module("tapegrad" + module.removeprefix("torch"))


def public(module: str) -> dict[str, Any]:
    """The public names of a module that are ours, without modules."""
    owner = owner_of(module)
    found = {}
    for name in getattr(owner, "__all__", None) or dir(owner):
        value = None if name.startswith("_") else getattr(owner, name, None)
        if value is not None and not isinstance(value, ModuleType) and _is_ours(value):
            found[name] = value
    return found


def _is_ours(value: Any) -> bool:
    """Whether a function, class, property or dtype was written here."""
    if inspect.isdatadescriptor(value):
        return True
    home = getattr(inspect.unwrap(value), "__module__", None) or type(value).__module__
    return home.startswith(("tapegrad", "torch"))


def pages() -> list[Page]:
    """Every page, with its names in the order of the alphabet."""
    load_operators()
    found: dict[str, Page] = {}
    first: dict[int, str] = {}  # under which name a thing is described
    for module in ("torch", *MODULES):
        for name, value in sorted(public(module).items(), key=_order):
            family = _family(module, value)
            path = f"reference/{module}/{family}.md" if family else f"reference/{module}.md"
            page = found.get(path) or found.setdefault(path, _page(path, module, family))
            full = f"{module}.{name}"
            original = getattr(value, "out_of_place", value)
            known = first.setdefault(id(_plain(original)), full)
            if known == full:
                page.entries.append(Entry(full, value))
            else:
                page.others[full] = known
    for page in found.values():
        page.entries.sort(key=lambda entry: entry.name.lower())
    order = ("torch", *MODULES)
    return sorted(found.values(), key=lambda page: (order.index(page.module), page.path))


def _page(path: str, module: str, family: str | None) -> Page:
    if family:
        return Page(path, module, f"{module}: {FAMILIES.get(family, family)}", "", [], {})
    if module == "torch":
        return Page(path, module, "torch: modes, dtypes, settings", "", [], {})
    return Page(path, module, module, inspect.getdoc(owner_of(module)) or "", [], {})


def _family(module: str, value: Any) -> str | None:
    """The folder of `operators` that has a function of `torch`, the file that has a layer."""
    home = (getattr(declaration(value), "__module__", None) or "").split(".")
    if module == "torch" and home[:2] == ["tapegrad", "operators"] and home[2] in FAMILIES:
        return home[2]
    if module == "torch.nn" and home[:3] == ["tapegrad", "nn", "modules"]:
        return home[3]
    return None


def _order(item: tuple[str, Any]) -> tuple[bool, str]:
    """By the alphabet, but what a thing calls itself before its other names."""
    name, value = item
    own = getattr(_plain(value), "__name__", None) or str(value).rpartition(".")[2]
    return name != own, name.lower()


def _plain(value: Any) -> Any:
    """The function under a method or a second name."""
    return inspect.unwrap(value) if inspect.isfunction(value) else value
