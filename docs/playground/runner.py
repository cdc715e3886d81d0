"""Runs what is in the editor: what it prints, and the page of the graph that it shows or computes.

Plain Python, the same in a browser and out of it.
"""

import sys
import webbrowser
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

from tapegrad import Tensor
from tapegrad.compat import script
from tapegrad.inspect import graph, watch

FILE = "program.py"


class Beside:
    """What stands for a browser: the page that is opened in it is kept, to be shown beside."""

    page = ""

    def open(self, url, new=0, autoraise=True):
        """Keep the file at a URL."""
        self.page = Path(url2pathname(urlparse(url).path)).read_text(encoding="utf-8")
        return True


def run(code: str) -> dict[str, str]:
    """Run a program as `python -m tapegrad run` does.

    `page` is the last one that it showed, or that of its `loss`, or else of the last scalar that
    it computed from what requires grad; "" if there is none. `missing` is a module that it lacks.
    """
    Path(FILE).write_text(code, encoding="utf-8")
    beside = Beside()
    # Pyodide's module knows no preferred browser, and would open a window, which a worker has not
    webbrowser.open, webbrowser.get = beside.open, lambda using=None: beside
    before, missing = sys.excepthook, ""
    try:
        with watch():
            script.run(FILE)
    except SystemExit as end:
        print(f"ended with {end.code}", file=sys.stderr)
    except BaseException as error:
        missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        sys.excepthook = before
    return {"page": beside.page or drawn(vars(sys.modules["__main__"])), "missing": missing}


def drawn(variables: dict[str, object]) -> str:
    """The page of the graph behind the program's result."""
    scalars = {
        name: x
        for name, x in variables.items()
        if isinstance(x, Tensor) and x.grad_fn is not None and x.numel() == 1
    }
    if not scalars:
        return ""
    name = "loss" if "loss" in scalars else list(scalars)[-1]
    leaves = {n: x for n, x in variables.items() if isinstance(x, Tensor) and x.is_leaf}
    return graph(scalars[name], params=leaves, title=name).html()
