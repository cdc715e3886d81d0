"""What is needed to call a compiled program: its library aside, all of it can be kept on disk."""

import ctypes

import numpy as np

from tapegrad.arrays.traced.program import Changed
from tapegrad.compiler.c_backend import blas
from tapegrad.compiler.c_backend.addresses import address, offsets
from tapegrad.compiler.c_backend.ir import Buffer
from tapegrad.compiler.c_backend.workspace import (
    Workspace,
    count_of_references,
    laid_out_as,
    maker,
    seen,
)
from tapegrad.core.annotations import Any, Sequence
from tapegrad.core.threads import n_threads


class Recipe:
    """How the library of a program is called, and with which memory.

    Attributes:
        source, driver: the C file, and the Python function `run` that calls it, as source
        scope: what the names in `driver` mean that no other program has
        size: bytes of the arena
        results, constants: buffers, with their slots in the table of addresses
        n_slots, n_inputs: the length of that table; how many inputs there are
        parts: numbers of the functions of C
        failures: functions that raise what a part's number means, or what had a wrong index
        products, shares: suffixes of the types of its products; whether threads share its loops
        n_timed: how many segments note when they have ended; None where none does
        check: the recipe of a program that asks whether this one holds; None
    """

    def __init__(
        self, source: str, driver: str, scope: dict[str, Any], size: int, results: list[Buffer],
        constants: Sequence[Buffer], n_slots: int, n_inputs: int, parts: list[int],
        failures: list[Any], products: list[str], shares: bool, n_timed: int | None,
    ):  # fmt: skip
        self.source, self.driver, self.scope = source, driver, scope
        self.size, self.results, self.constants = size, results, constants
        self.n_slots, self.n_inputs, self.parts = n_slots, n_inputs, parts
        self.failures, self.products, self.shares = failures, products, shares
        self.n_timed = n_timed
        self.check: Recipe | None = None

    def bound_to(self, library: Any, scope: dict[str, Any]) -> Any:
        """The function that calls a library made of `source`.

        `scope` is what the names in the lines of the program mean.
        """
        if self.products:
            blas.bind(library, self.products)
        if self.shares:
            from tapegrad.compiler.c_backend import pool

            pool.bind(library)
        names = {**scope, **self._names(), **self.scope, **_functions(library, self.parts)}
        if self.n_timed is not None:
            from tapegrad.compiler.c_backend import timed

            timed.bind(names, library, self.n_timed)
        exec(compile(self.driver, "<c backend>", "exec"), names)
        run = names["run"]
        run.source, run.driver, run.library, run.check = self.source, self.driver, library, None
        run.forget_memory, run.ends = names["free"].clear, names.get("ends")
        return run

    def _names(self) -> dict[str, Any]:
        """What the names mean that all drivers have."""
        free: list[Workspace] = []

        def fail(work: Workspace, code: int) -> None:
            free.append(work)
            failure = self.failures[code - 1]
            if type(failure) is str:
                raise IndexError(f"an index of {failure} is out of range")
            failure()
            raise AssertionError("a failure that does not raise")

        names = {
            "new": lambda: Workspace(
                self.n_slots, self.size, len(self.results), self.constants, self.n_inputs
            ),
            "free": free,
            "fail": fail,
            "getrefcount": count_of_references,
            "address": address,
            "address_of": ctypes.addressof,
            "seen": seen,
            "laid_out_as": laid_out_as,
            "ndarray": np.ndarray,
            "n_threads": n_threads,
        }
        return names | {f"make{i}": maker(x, x.slot) for i, x in enumerate(self.results)}


def changed(what: str) -> None:
    """The failure of a check, as it is kept in a recipe."""
    raise Changed(what)


def _functions(library: Any, parts: list[int]) -> dict[str, Any]:
    """The functions of a library that a driver calls."""
    found = {}
    for name in [f"part{i}" for i in parts]:
        found[name] = function = getattr(library, name)
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int
    if offsets() is not None:
        found["step"] = step = library.step
        step.argtypes, step.restype = [ctypes.c_void_p, ctypes.c_void_p], ctypes.c_int
    return found
