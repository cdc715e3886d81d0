"""Writes code as users write it, at random: a module, a function or training step, calls of it.

Functions read globals, attributes, containers and options; write, draw and count; and between calls
what they read is changed. Every statement takes `h`, shape (rows, 4), and gives one.
"""

import random

PRELUDE = """
import argparse, collections, contextlib, copy, dataclasses, functools, types, typing
import tapegrad as torch
from tapegrad import func, nn
from tapegrad.nn import functional as F
from tapegrad.nn.utils import parametrize
from tapegrad.nn.utils.parametrizations import spectral_norm, weight_norm
from tapegrad.utils.checkpoint import checkpoint

K, N, FLAG, COUNT = 0.3, 2, True, 0
W, P = torch.randn(4, 4) * 0.4, nn.Parameter(torch.randn(4, 4) * 0.3)
TABLE = {"a": 1.5, "t": torch.ones(4), "4": 0.7, "f": torch.tanh, "deep": {"x": 0.5}}
LIST, STATE = [torch.randn(4), torch.randn(4)], {"h": torch.zeros(4)}
ARGS = argparse.Namespace(scale=1.5)
GENERATOR = torch.Generator().manual_seed(3)

@dataclasses.dataclass
class Config:
    scale: float = 0.5
    bias: typing.Any = None
    def apply(self, h):
        return h.tanh() * self.scale + self.bias
CONFIG = Config(bias=torch.randn(4))

class Pair(typing.NamedTuple):
    a: typing.Any
    b: typing.Any

class Thing:
    level = 1.1
    def __init__(self):
        self.kept, self.calls = torch.zeros(4), 0
    @property
    def k(self):
        return self.level * K
    def __call__(self, h):
        self.calls += 1
        return h + self.kept
    def __getitem__(self, i):
        return K * i
    def __len__(self):
        return N
    def __enter__(self):
        return TABLE["a"]
    def __exit__(self, *error):
        return False
THING = Thing()

def helper(h, k=None, *, m=0.5):
    return h * (K if k is None else k) + m
def deco(f):
    @functools.wraps(f)
    def g(*args):
        return f(*args) * (1 + K)
    return g
@deco
def decorated(h):
    return h.sin()
def recursive(h, n):
    return h if n == 0 else recursive(h * 0.9 + K, n - 1)
def generated(h):
    for i in range(N):
        yield h * (i + K)
def maker(k, t):
    return lambda h: h * k + t
closure = maker(0.4, LIST[1])
partial = functools.partial(helper, m=0.25)
@contextlib.contextmanager
def scaled(k):
    yield k * K

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**3 * k
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g * ctx.k, None

class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.w, self.n, self.k, self.last = nn.Parameter(torch.randn(4)), 0, 0.8, None
        self.register_buffer("mean", torch.zeros(4))
    def forward(self, h):
        self.n += 1
        self.last = h.detach()
        if self.training:
            with torch.no_grad():
                self.mean.lerp_(h.mean(0), 0.1)
        return h * self.w * self.k + self.mean
class Hidden(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.h = nn.GRUCell(4, 4), None
    def forward(self, x):
        if self.h is None or self.h.shape != x.shape:
            self.h = torch.zeros_like(x)
        h = self.cell(x, self.h)
        self.h = h.detach()
        return h
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.b.weight = self.a.weight
    def forward(self, x):
        return x + self.b(self.a(x).tanh())
class Checked(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.drop = nn.Linear(4, 4), nn.Dropout(0.3)
    def forward(self, x):
        return checkpoint(lambda y: self.drop(self.layer(y)).relu(), x, use_reentrant=False)
class Symmetric(nn.Module):
    def forward(self, w):
        return w.triu() + w.triu(1).T
class Parametrized(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        parametrize.register_parametrization(self.layer, "weight", Symmetric())
    def forward(self, x):
        return self.layer(x)

class Net(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers, self.out = nn.ModuleList(layers), nn.Linear(4, 4)
        self.scale, self.table, self.extra = 0.5, {"g": 0.4}, torch.ones(4)
    def forward(self, h, k=1.0):
        for layer in self.layers:
            h = layer(h) * k
        h = h * self.scale + self.extra * self.table["g"]
        return self.out(h)
"""

LAYERS = """nn.Linear(4, 4)|nn.Tanh()|nn.ReLU(inplace=True)|nn.LayerNorm(4)|nn.BatchNorm1d(4)
nn.Dropout(0.3)|Counted()|Hidden()|Tied()|Checked()|Parametrized()|nn.PReLU()
weight_norm(nn.Linear(4, 4))|spectral_norm(nn.Linear(4, 4))
nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))"""

STATEMENTS = """h = torch.tanh(h) * K
h = h + TABLE["a"] * h.softmax(-1)
h = h @ W - h.mean(0, keepdim=True)
h = torch.where(h > 0, h, h * 0.1).clamp(-2, 2)
h = torch.cat([h[:, :2], h[:, 2:] * 2], 1)
h = h.view(-1, 2, 2).transpose(1, 2).reshape(-1, 4)
h = h + LIST[0][h.argmax(-1)][:, None]
h = h.gather(1, h.argsort(-1)) * h.abs().sqrt()
h = h.clone(); h[0] = 1.0; h[:, 1] += K
h = h.clone(); h.view(-1)[::2] = 0.1; h.t().add_(0.1)
h = h * 1; h[h > 1] = 1.0; h.mul_(1.5)
h = h + TABLE["t"]; TABLE["t"] = h.detach().mean(0)
h = h + STATE["h"]; STATE["h"] = h.detach().mean(0) * 0.1
h = h + LIST[1]; LIST[1].mul_(0.95)
THING.kept = h.detach().mean(0)
h = THING(h)
h = h * THING.k * THING[2] * len(THING)
with THING as s: h = h * s
with scaled(0.5) as s: h = h * s
for i in range(N): h = h * (1 + i * 0.1)
h = h * 2 if h.shape[0] > 3 else h + 1
h = h * 0.9 if h.sum().item() > 0 else h * 1.1
s = h.detach().mean().item(); h = h + s * K + s // 0.3 + s % 0.7
h = h / (1 + int((h > 0).sum()))
h = h - 1 if FLAG else h
h = h * TABLE[f"{h.shape[1]}"] * TABLE["deep"]["x"]
h = TABLE["f"](h) * ARGS.scale
h = sum(generated(h)) + recursive(h, N)
h = helper(h) + helper(h, k=0.2, m=K) + decorated(h)
h = closure(h) + partial(h)
h = CONFIG.apply(h)
p = Pair(a=h, b=K)._replace(b=0.2); h = p.a * p.b
d = {"h": h}; d["h"] = d["h"] * 2; h = d["h"] + d.pop("h")
h = torch.stack([row * (i + 1) for i, row in enumerate(h)])
global COUNT; COUNT += 1
THING.calls += 1
h = h * k + (1 - k)
h = h * optimizer.param_groups[0]["lr"]
with torch.no_grad(): h = h - h.mean()
h = h.detach() + h * 0.5
h = h + func.grad(lambda z: (z**2).sum() * K)(h)
h = func.vmap(lambda row: row * row.sum() * K)(h)
h = checkpoint(lambda z: (z @ P).relu() * K, h, use_reentrant=False)
h = Cube.apply(h.clamp(-1, 1), K)
h = F.linear(h, P)
h = F.dropout(h, 0.3) + torch.randn(4)
h = h + torch.rand(4, generator=GENERATOR)"""

OPTIMIZERS = """SGD(params, lr=0.05, momentum=0.9)|Adam(params, lr=0.02)|RMSprop(params, lr=0.01)
AdamW(params, lr=0.02, fused=True)|NAdam(params, lr=0.01)
SGD([{"params": params[::2], "lr": 0.01}, {"params": params[1::2]}], lr=0.05)"""

AFTER = """optimizer.step()
nn.utils.clip_grad_norm_(params, 0.5); optimizer.step()
optimizer.step(); schedule.step()
for p in params: p.data.add_(p.grad if p.grad is not None else 0, alpha=-0.01)"""

CHANGES = """globals().update(K=round(K + 0.1, 3))
globals().update(N=N % 3 + 1)
globals().update(FLAG=not FLAG)
TABLE.update(a=TABLE["a"] + 0.5)
TABLE["t"] = torch.randn(4)
TABLE["f"] = torch.sin
TABLE["deep"] = {"x": 0.9}
LIST[1] = torch.randn(4)
LIST.reverse()
W.mul_(0.9)
W.data = torch.randn(4, 4).t()
P.requires_grad_(not P.requires_grad)
P.grad = torch.ones(4, 4)
globals().update(P=nn.Parameter(torch.randn(4, 4)))
ARGS.scale += 0.1
CONFIG.scale += 0.1
CONFIG.bias = torch.randn(4)
THING.kept = torch.randn(4)
Thing.level = 1.7
Thing.__len__ = lambda self: 3
globals().update(helper=lambda h, k=None, m=0.1: h + m)
helper.__kwdefaults__ = {"m": 0.33}
closure.__closure__[0].cell_contents = 0.55
GENERATOR.manual_seed(1)
net.train(not net.training)
net.scale += 0.5
net.table["g"] += 0.1
net.extra = torch.randn(4)
net.out.weight.data.mul_(0.9)
net.out.weight = nn.Parameter(torch.randn(4, 4))
net.requires_grad_(not net.out.bias.requires_grad)
net.zero_grad(set_to_none=False)
net.layers[0] = nn.Linear(4, 4)
net.register_forward_hook(lambda module, given, out: out * K)
[setattr(m, "k", m.k + 0.1) for m in net.modules() if isinstance(m, Counted)]
optimizer.param_groups[0]["lr"] *= 0.5
optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
optimizer.state.clear()
schedule.step()"""

ARGUMENTS = ["torch.randn({n}, 4)"] * 6 + [
    "torch.randn(4, {n}).t()", "torch.randn({n}, 8)[:, ::2]", "torch.randn(1, 4).expand({n}, 4)",
    "torch.randn({n}, 4, requires_grad=True)", "torch.randn({n}, 4, requires_grad=True) * 1",
    "torch.randn({n}, 3)",
]  # fmt: skip


class Writer:
    """Writes a program: `text`, with a `run` of `side_by_side` and `backward(y)`."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        layers = self.random.sample(LAYERS.replace("\n", "|").split("|"), self.random.randint(1, 3))
        optimizer = self.random.choice(OPTIMIZERS.replace("\n", "|").split("|"))
        self.lines = [
            PRELUDE,
            f"net = Net({', '.join(layers)})",
            "params = list(net.parameters())",
            f"optimizer = torch.optim.{optimizer}",
            "schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)",
        ]
        self.trains = self.random.random() < 0.5
        self.is_module = not self.trains and self.random.random() < 0.3
        self.function()
        self.calls()
        self.text = "\n".join(self.lines)

    def function(self):
        """What is compiled: `f`."""
        if self.is_module:
            self.lines.append("f = run.compile(net, recompile_limit=20)")
            return
        body = [
            self.random.choice(STATEMENTS.split("\n")) for _ in range(self.random.randint(1, 5))
        ]
        if "global COUNT; COUNT += 1" in body:
            body = ["global COUNT", *[line.removeprefix("global COUNT; ") for line in body]]
        if self.trains:
            before = ["optimizer.zero_grad()"] * (self.random.random() < 0.8)
            after = self.random.choice(AFTER.split("\n"))
            body = [
                *before,
                *body,
                "h = net(h)",
                "loss = h.pow(2).mean()",
                "loss.backward()",
                after,
            ]
            body.append(self.random.choice(["return loss", "return loss.detach(), h.detach()"]))
        else:
            body += ["h = net(h)"] * (self.random.random() < 0.3)
            body.append(
                self.random.choice(["return h", "return h * 2, h.sum()", "return Pair(h, k)"])
            )
        if body[0] == "global COUNT" or "global COUNT" in body:
            body = ["global COUNT", *[line for line in body if line != "global COUNT"]]
        self.lines += ["def g(h, k=1.0):", *["    " + line for line in body]]
        self.lines.append("f = run.compile(g, recompile_limit=20)")

    def calls(self):
        """Calls, with changes in between, and what they leave behind."""
        words = "\n".join(self.lines[1:])
        changes = [x for x in CHANGES.split("\n") if x.split("[")[0].split(".")[0] in words]
        varies = self.random.random() < 0.3
        for i in range(self.random.randint(6, 10)):
            n, form = 3, ARGUMENTS[0]
            if i > 2 and self.random.random() < 0.6:
                if self.random.random() < 0.3:
                    n, form = self.random.choice([1, 3, 5]), self.random.choice(ARGUMENTS)
                else:
                    self.lines.append(f"run.call(lambda: [{self.change(changes)}, None][1])")
            k = f", k={round(self.random.random(), 3)}" if varies else ""
            self.lines += [f"x = {form.format(n=n)}", f"y = run.call(f, x{k})"]
            if not self.trains:
                self.lines.append("backward(y)")
                self.lines.append("run.call(optimizer.step)")
            self.lines.append("run.look(x, net, optimizer, W, P, TABLE, LIST, STATE, COUNT)")
            self.lines.append("run.look(THING.kept, THING.calls, CONFIG.bias)")
            self.lines.append(
                "run.look([(m.n, m.last) for m in net.modules() if type(m) is Counted])"
            )

    def change(self, changes):
        """An expression that changes something."""
        text = self.random.choice(changes or ["None"])
        for sign in (" += ", " *= ", " = "):
            if sign in text and not text.startswith(("globals", "[", "TABLE.update", "net.reg")):
                return f"exec({text!r}, globals())"
        return text
