"""Rules as formulas."""

import ast
import re
from html.entities import html5
from xml.etree import ElementTree

import pytest

from tapegrad.dispatch.op import REGISTRY
from tapegrad.inspect.rule_text import RuleText, formula
from tapegrad.operators.loading import load_operators


def drawn(source):
    """The formula of an expression in one line: fractions as [a/b], powers as [a^b]."""
    text = formula("", ast.parse(source, mode="eval").body)
    text = re.sub(r"&(\w+;)", lambda m: html5[m[1]], text).replace("\N{MINUS SIGN}", "-")
    return line(ElementTree.fromstring(text))


def line(element):
    parts = [line(each) for each in element]
    if element.tag == "mfrac":
        return f"[{parts[0]}/{parts[1]}]"
    if element.tag == "msup":
        return f"[{parts[0]}^{parts[1]}]"
    if element.tag == "msqrt":
        return f"√[{''.join(parts)}]"
    if element.tag == "mtr":
        return " ".join(parts) + "; "
    return (element.text or "") + "".join(parts)


CASES = {
    "g * (1 - y * y)": "g⋅(1-y⋅y)",
    "g - (a - b)": "g-(a-b)",
    "(g - a) - b": "g-a-b",
    "g / (x * LN2)": "[g/x⋅ln2]",
    "a / b * c": "[a/b]⋅c",
    "(a / b) ** 2": "[([a/b])^2]",
    "-x ** 2": "-[x^2]",
    "(-x) ** 2": "[(-x)^2]",
    "g * -xp.sin(x)": "g⋅(-sin(x))",
    "a * (b % c)": "a⋅(bmodc)",
    "a * b % (c / d)": "(a⋅b)mod[c/d]",
    "x // 2": "⌊[x/2]⌋",
    "xp.matmul(g, _t(xp, b))": "g[b^T]",
    "xp.matmul(a + b, g) * 2.0": "(a+b)g⋅2",
    "a @ (b @ c)": "a(bc)",
    "xp.permute_dims(g, tuple(range(g.ndim))[::-1])": "[g^T]",
    "_scaled(xp, g + h, beta)": "β⋅(g+h)",
    "g / (x_like.size or 1)": "[g/x.size]",
    "xp.where(x > 0, g, 0.0)": "g where\xa0x>0; 0 elsewhere; ",
    "g * xp.exp(-x) / xp.sqrt(1 + x)": "[g⋅[e^-x]/√[1+x]]",
    "g * y - y * xp.sum(g * y, axis=axis, keepdims=True)": "g⋅y-y⋅(∑axisg⋅y)",
    "xp.sum(g + h)": "∑(g+h)",
    "xp.zeros_like(g)": "0",
    "xp.astype(g, x_like.dtype)": "g",
    "_power(xp, x, n - 1) * n": "[x^n-1]⋅n",
    "_share(xp, g, *rest)[0]": "_share(g, *rest)[0]",
}


@pytest.mark.parametrize("source", CASES)
def test_an_expression_means_what_its_formula_says(source):
    assert drawn(source) == CASES[source]


def test_a_rule_of_several_statements_is_the_formula_that_they_lead_to():
    load_operators()
    (rule,) = REGISTRY["softmax_along"].vjps.values()
    text = RuleText("x", rule.function)
    assert "kernel" in text.source  # which says nothing of it
    plain = re.sub(r"&(\w+;)", lambda m: html5[m[1]], text.formula).replace("\N{MINUS SIGN}", "-")
    assert line(ElementTree.fromstring(plain)) == "gx=g⋅y-y⋅(∑axisg⋅y)"


def branching(g, x):
    if x > 0:
        return g
    return -g


def test_a_rule_that_branches_has_no_formula():
    assert RuleText("x", branching).formula == ""


def test_every_rule_has_its_source_and_its_formula_is_well_formed():
    load_operators()
    n_formulas = 0
    for op in REGISTRY.values():
        for name, rule in op.vjps.items():
            text = RuleText(name, rule.function)
            assert text.source, (op.name, name)
            if text.formula:
                n_formulas += 1
                plain = re.sub(r"&(\w+;)", lambda m: html5[m[1]].replace("<", "&lt;"), text.formula)
                assert ElementTree.fromstring(plain.replace("&&", "&amp;&")).tag == "math"
    assert n_formulas > 300
