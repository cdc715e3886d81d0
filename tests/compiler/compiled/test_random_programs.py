"""Small programs written at random, compiled: what they give, write and differentiate is eager's.

A program reads two arguments, tensors, numbers and objects of its globals; computes, makes views,
writes in place, branches and draws. Its calls get arguments that differ in shape, strides and
memory, and what it reads is changed between them.
"""

import random

import pytest

import tapegrad as torch
from tests.compiler.side_by_side import compare
from tests.tiers import rounds

ONE = "sin tanh sigmoid relu abs neg sqrt square erf floor".split()
TWO = "add sub mul div maximum minimum".split()
VIEWS = """{a}.t() {a}[1] {a}[:,0] {a}[::2] {a}[:,1:] {a}.reshape(-1) {a}.unsqueeze(0) {a}.detach()
    {a}.expand(2,3,3) {a}.diagonal() {a}.view(9) {a}.contiguous() {a}.narrow(0,0,2)""".split()
SUMS = """{a}.sum() {a}.mean(0,keepdim=True) {a}.max(0).values {a}.cumsum(0) {a}.softmax(-1)
    {a}.norm() {a}.argmax() {a}.sort(0).values {a}.var(-1,keepdim=True) {a}.logsumexp(0)""".split()
OTHERS = """torch.where({a}>{b},{a},{n}) torch.cat([{a},{b}]) torch.stack([{a},{b}]) {a}@{b}
    {a}.masked_fill({b}>0,{n}) {a}[index] {a}.clamp(-1,1) torch.lerp({a},{b},0.3) {a}.double()
    {a}[{a}>0].sum() {a}.roll(1,0) {a}*w torch.zeros_like({a}) F.linear({a},w,u)""".split()
DRAWS = """F.dropout({a},0.5) torch.rand_like({a}) {a}+torch.randn(3,3)""".split()
WRITES = """{a}.add_({b}) {a}.mul_({n}) {a}.tanh_() {a}[0]={b}[0] {a}[:,1]={n} {a}[{b}>0]=0.5
    {a}[1:].add_(1) {a}.t().mul_({b}) {a}[index]={b}[index] {a}.view(-1)[2]=7 {a}.fill_(2)
    {a}.diagonal().add_(1) {a}.clamp_(-1,1) {a}.copy_({b}) {a}.index_add_(0,index,{b}[index])
    {a}.data.mul_(2) {a}.addmm_({b},{b})""".split()
TESTS = "{a}.sum()>0 {a}.mean().item()<k flag ({a}>0).any() {a}.shape[0]>2".split()


class Writer:
    """Writes the text of a function `f(x, y, flag)`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names, self.lines = ["x", "y", "w"], ["def f(x, y, flag=False):"]
        self.writes, self.draws = self.random.random() < 0.6, self.random.random() < 0.3
        for _ in range(self.random.randint(3, 9)):
            self.statement(1)
        given = [name for name in self.names if name not in "xyw"] or ["x * 2"]
        given = self.random.sample(given, min(len(given), 2))
        self.lines.append(f"    return {', '.join(given)}")
        self.text = "\n".join(self.lines)

    def filled(self, forms):
        a, b = self.random.choice(self.names), self.random.choice(self.names)
        n = self.random.choice(["2.0", "-1", "k", "table['a']", "thing.b"])
        return self.random.choice(forms).format(a=a, b=b, n=n)

    def value(self):
        one, two = self.random.choice(ONE), self.random.choice(TWO)
        kinds = [[f"torch.{one}({{a}})"], [f"torch.{two}({{a}},{{b}})"], VIEWS, SUMS, OTHERS]
        return self.filled(self.random.choice(kinds + [DRAWS] * self.draws))

    def statement(self, depth):
        kind, space = self.random.random(), "    " * depth
        if kind < 0.15 and depth < 3:
            head = f"if {self.filled(TESTS)}:" if kind < 0.1 else "for _ in range(2):"
            self.lines.append(space + head)
            outer = list(self.names)
            self.statement(depth + 1)
            self.names = outer
        elif kind < 0.4 and self.writes:
            self.lines.append(space + self.filled(WRITES))
        else:
            name = f"v{len(self.lines)}"
            self.lines.append(f"{space}{name} = {self.value()}")
            self.names.append(name)


class Thing:
    b = 1.5


def calls_of(seed):
    """A scenario: calls of a program, with changes in between."""
    text = Writer(seed).text

    def scenario(run):
        chance, thing = random.Random(seed), Thing()
        w, u = torch.randn(3, 3), torch.randn(3, requires_grad=chance.random() < 0.3)
        w = w.requires_grad_(chance.random() < 0.5)
        space = {
            "__name__": __name__, "torch": torch, "F": torch.nn.functional, "w": w, "u": u,
            "k": 0.3, "table": {"a": 2.0}, "thing": thing, "index": torch.tensor([0, 2]),
        }  # fmt: skip
        exec(compile(text, f"<program {seed}>", "exec"), space)
        f = run.compile(space["f"], recompile_limit=12)
        kind = chance.choice(["plain", "leaf", "mixed", "history"])
        changes = (
            lambda x, y: (x, x),
            lambda x, y: (x, x.view(3, 3)),
            lambda x, y: (x, x.detach()),
            lambda x, y: (torch.randn(4, 3), y),
            lambda x, y: (x, y.t()),
            lambda x, y: (x.detach().double(), y),
            lambda x, y: (x, w.detach()[:]),
            lambda x, y: (space.update(k=-0.3), (x, y))[1],
            lambda x, y: (space["table"].update(a=3.0), (x, y))[1],
            lambda x, y: (setattr(thing, "b", chance.random()), (x, y))[1],
            lambda x, y: (setattr(w, "data", w.data * 2), (x, y))[1],
        )
        for i in range(7):
            x, y = torch.randn(3, 3), torch.randn(3, 3)
            root = torch.randn(3, 3, requires_grad=True)
            if kind == "leaf" or (kind == "mixed" and i % 2):
                x.requires_grad_()
            elif kind == "history":
                x = root * 1
            if i > 2 and chance.random() < 0.6:
                x, y = chance.choice(changes)(x, y)
            results = run.call(f, x, y, flag=i == 5)
            results = results if isinstance(results, tuple) else (results,)
            found = [each for each in results if each is not None and each.requires_grad]
            if found:
                run.call(lambda found=found: sum(each.sum() for each in found).backward())
            run.look(x, y, w, u, root)

    return scenario


@pytest.mark.parametrize("seed", range(0, rounds(16, 800), 4))
def test_programs(seed):
    for each in range(seed, seed + 4):
        compare(calls_of(each), programs=None)
