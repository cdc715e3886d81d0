"""Jedi, which completes in many editors: what it takes expressions of the pages for."""

import ast
import typing
from collections import Counter

from tapegrad import nn, optim
from tests import needs
from tests.repository.pages import PAGES, ROOT, blocks
from tests.typing import programs

EACH = 24  # of so many expressions one is asked for: jedi takes 30 ms for each
NET = """\
class Net(nn.Module):
    def forward(self, x):
        return nn.functional.relu(x)
"""


def expressions():
    """Programs of the pages with an expression at their end, and what its values were."""
    seen = programs.recorded()
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        for block in blocks(page):
            tree = ast.parse(block.values[0])
            own = [n for each in tree.body if isinstance(each, ast.Expr) for n in ast.walk(each)]
            for node in own:
                key = name, ast.unparse(node)
                if isinstance(node, ast.Call) and key in seen and _is_asked(key[1]):
                    yield f"{block.values[0]}\nanswer = {key[1]}\nanswer", seen[key]


def _is_asked(expression):
    """Whether jedi need not look into NumPy, or into a function that is mapped."""
    return not expression.startswith("np.") and "vmap" not in expression


def test_expressions_of_the_pages_are_known():
    jedi = needs.package("jedi", "completes names")
    verdicts, wrong = Counter(), []
    for code, values in list(expressions())[::EACH]:
        known = jedi.Script(code).infer(code.count("\n") + 1, 0)
        static = {"type" if each.type == "class" else each.name for each in known}
        found = programs.verdict(static or {"Unknown"}, values, "")
        verdicts[found] += 1
        wrong += [(code.splitlines()[-2], static, values)] * (found == "wrong")
    assert not wrong, "\n".join(map(str, wrong))
    assert verdicts["right"] > 1.5 * verdicts["unknown"], verdicts


def test_calls_of_layers_and_models_are_known():
    jedi = needs.package("jedi", "completes names")
    start = f"import tapegrad as torch\nfrom tapegrad import nn\n{NET}x = torch.ones(2)\n"
    layers = (
        "nn.Linear(2, 3)(x)",
        "nn.Conv2d(1, 1, 3)(x).relu()",
        "nn.MSELoss()(x, x)",
        "Net()(x)",
    )
    for call in layers:
        code = f"{start}y = {call}\ny"
        assert {each.name for each in jedi.Script(code).infer(8, 0)} == {"Tensor"}, call


def test_completions_are_the_public_names():
    jedi = needs.package("jedi", "completes names")
    for module, place in ((nn, "from tapegrad import nn"), (optim, "from tapegrad import optim")):
        name = place.rpartition(" ")[2]
        found = {each.name for each in jedi.Script(f"{place}\n{name}.").complete()}
        classes = {n for n in dir(module) if isinstance(getattr(module, n), type)}
        assert classes <= found
        assert {n for n in found if n[0].isupper()} <= {*dir(module), *typing.__all__}
