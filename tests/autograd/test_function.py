"""Custom functions: what PyTorch gives for the same classes, and differences."""

import copy
import functools
import gc
import pickle
import weakref

import numpy as np
import pytest

import tapegrad as torch
from tapegrad.autograd import Function
from tapegrad.autograd.function import once_differentiable


def custom(forward, backward=None, **others):
    """A custom function of static methods."""
    methods = {"forward": forward, **others}
    if backward is not None:
        methods["backward"] = backward
    body = {name: staticmethod(f) if callable(f) else f for name, f in methods.items()}
    return type("Custom", (Function,), body)


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


def square(ctx, x):
    ctx.save_for_backward(x)
    return x * x


def square_back(ctx, g):
    (x,) = ctx.saved_tensors
    return 2 * x * g


def doubled(ctx, x):
    return x * 2


def twice(ctx, g):
    return g * 2


def doubled_in_place(ctx, x):
    ctx.mark_dirty(x)
    x.mul_(2)
    return x


Square = custom(square, square_back)


class Cube(Function):
    """Differentiable in both modes, any number of times."""

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * t


# --- gradients ---


def test_backward_gives_the_gradient():
    x = leaf(1.0, 2.0)
    y = Square.apply(x)
    assert str(y) == "tensor([1., 4.], grad_fn=<CustomBackward>)"
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]


def test_the_node_is_named_after_the_class_and_knows_its_inputs():
    x = leaf(1.0)
    node = Square.apply(x).grad_fn
    assert (node.name(), type(node).__name__) == ("CustomBackward", "CustomBackward")
    assert node.next_functions[0][0].variable is x
    assert node.saved_tensors[0] is x
    assert node.needs_input_grad == (True,)
    assert node.metadata == {}
    assert type(node) is Square._backward_cls
    node.note = 3
    assert node.note == 3


def test_a_derivative_of_any_order():
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    y = Cube.apply(x)
    found = []
    for _ in range(3):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        found.append(y.item())
    assert found == [12, 12, 6]


def test_a_saved_result_takes_part_in_the_second_derivative():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    x = leaf(1.0)
    y = custom(forward, lambda ctx, g: ctx.saved_tensors[0] * g).apply(x)
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(slope, x)
    np.testing.assert_allclose(second.numpy(), np.exp([1.0]), rtol=1e-6)


def test_saving_a_result_makes_no_cycle():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        ctx.mark_non_differentiable(x > 0)
        return y

    gc.collect()
    gc.disable()
    try:
        y = custom(forward, twice).apply(leaf(1.0))
        node, tensor = weakref.ref(y.grad_fn), weakref.ref(y)
        del y
        assert (node(), tensor()) == (None, None)
    finally:
        gc.enable()


def test_arguments_that_are_no_tensors_have_no_gradient():
    def back(ctx, g):
        assert ctx.needs_input_grad == (True, False, False)
        return g * ctx.factor, None, None

    def forward(ctx, x, factor, name):
        ctx.factor = factor
        return x * factor

    x = leaf(1.0)
    custom(forward, back).apply(x, 3.0, "name").backward()
    assert x.grad.tolist() == [3]


def test_keyword_arguments_are_put_in_their_places():
    product = custom(lambda ctx, a, b: a * b, lambda ctx, g: (g, g * 2))
    a, b = leaf(2.0), leaf(1.0)
    product.apply(b=b, a=a).backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1], [2])
    with pytest.raises(TypeError, match=r"forward\(\) got an unexpected keyword argument 'c'"):
        product.apply(a, c=3)


def test_defaults_are_given_to_setup_context():
    seen = []

    def setup(ctx, inputs, output):
        seen.append((inputs[1], output.requires_grad, torch.is_grad_enabled()))

    scaled = custom(lambda x, k=3: x * k, lambda ctx, g: (g, None), setup_context=setup)
    assert scaled.apply(leaf(1.0)).tolist() == [3]
    assert scaled.apply(leaf(1.0), k=2).tolist() == [2]
    assert seen == [(3, False, False), (2, False, False)]


def test_defaults_behind_a_decorator_are_given_too():
    @functools.wraps(lambda x, k=3: None)
    def forward(*args):
        return args[0] * args[1]

    seen = []
    scaled = custom(forward, None, setup_context=lambda ctx, inputs, output: seen.append(inputs[1]))
    assert scaled.apply(leaf(1.0)).tolist() == [3]
    assert seen == [3]


def test_a_tensor_that_was_packed_is_listed_among_what_a_node_keeps():
    with torch.autograd.graph.saved_tensors_hooks(lambda x: "packed", lambda _: leaf(2.0)):
        y = custom(square, square_back).apply(leaf(1.0))
    first = torch.inspect.step(y).next()
    assert list(first.kept) == ["saved_tensors[0]"]


def test_several_results_and_zeros_for_those_without_a_gradient():
    seen = []

    def back(ctx, *gradients):
        seen.extend(gradients)
        return gradients[0] * 2

    def forward(ctx, x):
        places = x.argmax()
        ctx.mark_non_differentiable(places)
        return x * 2, x * 3, places, "name"

    x = leaf(1.0, 2.0)
    a, b, places, name = custom(forward, back).apply(x)
    assert (a.output_nr, b.output_nr, a.grad_fn is b.grad_fn) == (0, 1, True)
    assert (places.requires_grad, name) == (False, "name")
    a.sum().backward()
    assert [g if g is None else g.tolist() for g in seen] == [[1, 1], [0, 0], 0, None]
    assert x.grad.tolist() == [2, 2]


def test_none_instead_of_zeros_where_they_are_not_wanted():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    seen = []
    pair = custom(forward, lambda ctx, g, h: (seen.append(h), g)[1])
    pair.apply(leaf(1.0))[0].backward()
    assert seen == [None]


def test_a_function_behind_one_that_returns_none_is_given_zeros():
    silent = custom(doubled, lambda ctx, g: None)
    seen = []
    first = custom(doubled, lambda ctx, g: (seen.append(g.tolist()), g)[1])
    x = leaf(1.0)
    silent.apply(first.apply(x) * 2).backward()
    assert (seen, x.grad.tolist()) == ([[0]], [0])


def test_gradients_are_brought_to_the_shape_and_dtype_of_the_argument():
    x = leaf(1.0, 2.0)
    custom(doubled, lambda ctx, g: torch.ones(4, 2, dtype=torch.float64)).apply(x).sum().backward()
    assert (x.grad.tolist(), x.grad.dtype) == ([4, 4], torch.float32)


def test_nothing_is_recorded_or_kept_where_nothing_requires_grad():
    def forward(ctx, x):
        assert not torch.is_grad_enabled()
        return square(ctx, x)

    function = custom(forward, square_back)
    assert function.apply(torch.ones(2)).grad_fn is None
    with torch.no_grad():
        assert function.apply(leaf(1.0)).grad_fn is None


def test_backward_runs_unrecorded_unless_a_graph_is_wanted():
    modes = []
    function = custom(doubled, lambda ctx, g: (modes.append(torch.is_grad_enabled()), g)[1])
    x = leaf(1.0)
    torch.autograd.grad(function.apply(x), x)
    torch.autograd.grad(function.apply(x), x, create_graph=True)
    assert modes == [False, True]


def test_vjp_is_another_name_of_backward_and_both_at_once_are_an_error():
    x = leaf(1.0)
    custom(doubled, vjp=twice).apply(x).backward()
    assert x.grad.tolist() == [2]
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        custom(doubled, twice, vjp=twice).apply(x).backward()


def test_gradients_in_a_list_that_backward_may_empty():
    function = custom(
        lambda ctx, x: (x * 2, x * 3), lambda ctx, gs: gs.pop(1) * 3, boxed_grads_call=True
    )
    x = leaf(1.0)
    function.apply(x)[1].backward()
    assert x.grad.tolist() == [3]


def test_saved_tensors_may_be_asked_for_once_if_so_declared():
    def back(ctx, g):
        ctx.saved_tensors  # noqa: B018
        return ctx.saved_tensors[0] * g

    function = custom(square, back, clear_saved_tensors_on_access=True)
    with pytest.raises(RuntimeError, match="saved_tensors can only be accessed once"):
        function.apply(leaf(1.0)).backward()


def test_hooks_on_the_node_see_and_replace_gradients():
    x = leaf(1.0)
    y = Square.apply(x)
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + outputs[0],))
    y.backward()
    assert x.grad.tolist() == [30]


def test_attributes_of_ctx_are_the_users_whatever_the_node_has():
    names = ["edges", "saved", "plan", "hooks", "order", "outputs", "kept", "sequence", "likes"]

    def forward(ctx, x):
        for i, name in enumerate(names):
            setattr(ctx, name, i)
        return x * 2

    def back(ctx, g):
        assert [getattr(ctx, name) for name in names] == list(range(len(names)))
        return g * 2

    x = leaf(1.0)
    custom(forward, back).apply(x).backward()
    assert x.grad.tolist() == [2]


def test_a_subclass_overrides_one_method():
    x = leaf(1.0)
    derived = type("Derived", (Square,), {"backward": staticmethod(lambda ctx, g: g * 5)})
    y = derived.apply(x)
    y.backward()
    assert (y.grad_fn.name(), x.grad.tolist()) == ("DerivedBackward", [5])


def test_once_differentiable_refuses_the_second_derivative():
    function = custom(square, once_differentiable(square_back))
    x, g = leaf(1.0, 2.0), torch.ones(2, requires_grad=True)
    (slope,) = torch.autograd.grad(function.apply(x).sum(), x, create_graph=True)
    assert (slope.tolist(), slope.requires_grad) == ([2, 4], False)
    (slope,) = torch.autograd.grad(function.apply(x), x, g, create_graph=True)
    assert slope.grad_fn.name() == "torch::autograd::Error"
    message = "trying to differentiate twice a function that was marked with @once_differentiable"
    with pytest.raises(RuntimeError, match=message):
        slope.sum().backward()


# --- results that are arguments, views of them, or written ---


def test_an_argument_that_is_returned_becomes_a_view():
    x = leaf(1.0, 2.0)
    function = custom(lambda ctx, x: x, lambda ctx, g: g * 3)
    y = function.apply(x)
    assert (y is x, y._base is x) == (False, True)
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]
    with pytest.raises(RuntimeError, match="Output 0 of Custom is a view and is being modified"):
        function.apply(x * 1).add_(1)


def test_a_view_may_not_be_written_nor_its_base():
    function = custom(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2) * 3)
    x = leaf(1.0, 2.0)
    function.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3]
    base = x.clone()
    y = function.apply(base)
    base.mul_(2)
    assert "grad_fn=<Invalid>" in str(y)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been"):
        y.grad_fn  # noqa: B018


def test_several_views_say_that_they_are_several():
    halves = custom(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h]))
    y, _ = halves.apply(leaf(1.0, 2.0) * 1)
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        y.add_(1)


def test_an_argument_written_in_place_takes_the_node():
    function = custom(doubled_in_place, twice)
    x = leaf(1.0, 2.0)
    c = x.clone()
    y = function.apply(c)
    assert (y is c, c._version, c.grad_fn.name()) == (True, 2, "CustomBackward")
    function.apply(c).sum().backward()
    assert x.grad.tolist() == [4, 4]


def test_a_view_written_in_place_rewrites_the_history_of_its_base():
    x, w = leaf(1.0, 2.0), leaf(2.0)
    base = x.clone()

    def scale(ctx, w, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(w, x.clone())
        return x.mul_(w)

    def back(ctx, g):
        w, x = ctx.saved_tensors
        return (g * x).sum(0, keepdim=True), g * w

    custom(scale, back).apply(w, base[:1])
    assert base.grad_fn.name() == "torch::autograd::CopySlices"
    assert base.tolist() == [2, 2]
    base.sum().backward()
    assert (x.grad.tolist(), w.grad.tolist()) == ([2, 1], [1])


def test_a_write_is_seen_by_who_saved_the_tensor():
    x = leaf(1.0).clone()
    y = Square.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="output 0 of Add, is at version 1; expected version 0"):
        y.backward()
    x = leaf(1.0).clone()
    y = x * x
    custom(doubled_in_place, twice).apply(x)
    with pytest.raises(RuntimeError, match="output 0 of Custom, is at version 2; expected version"):
        y.backward()


def test_a_write_to_a_saved_result_is_seen():
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    y = custom(forward, square_back).apply(leaf(1.0))
    y.add_(1)
    with pytest.raises(RuntimeError, match="output 0 of Custom, is at version 1; expected version"):
        y.backward()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: leaf(1.0), "a leaf Variable that requires grad has been used in an in-place"),
        (lambda: leaf(1.0, 2.0)[:1], "a view of a leaf Variable that requires grad is being used"),
    ],
)
def test_leaves_may_not_be_written(make, message):
    with pytest.raises(RuntimeError, match=message):
        custom(doubled_in_place, twice).apply(make())


# --- errors ---


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        (lambda g: (g, g, g), r"returned an incorrect number of gradients \(expected 2, got 3\)"),
        (lambda g: g, r"returned an incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: [g, g], r"returned an incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, g), "returned a gradient different than None at position 2, but the"),
        (lambda g: (3.0, None), r"expected Variable or None \(got float\)"),
        (lambda g: (torch.ones(3), None), r"got \[3\] but expected shape compatible with \[2\]"),
        (lambda g: (torch.ones(()), None), r"got \[\] but expected shape compatible with \[2\]"),
        (lambda g: (torch.ones(2, dtype=torch.complex64), None), "input_is_complex"),
    ],
)
def test_wrong_gradients_are_refused(gradients, message):
    function = custom(lambda ctx, x, k: x * k, lambda ctx, g: gradients(g))
    with pytest.raises(RuntimeError, match=message):
        function.apply(leaf(1.0, 2.0), 3).sum().backward()


@pytest.mark.parametrize(
    ("prepare", "error", "message"),
    [
        (lambda ctx, x: ctx.save_for_backward(3), TypeError, "argument 0 is of type int"),
        (lambda ctx, x: ctx.save_for_forward(3), AssertionError, "all arguments to be tensors"),
        (lambda ctx, x: ctx.mark_dirty(3), RuntimeError, "mark_dirty can only accept variables"),
        (lambda ctx, x: ctx.mark_dirty(x), RuntimeError, "were not returned as output"),
        (lambda ctx, x: ctx.mark_non_differentiable(3), RuntimeError, "only accepts variable"),
        (lambda ctx, x: ctx.set_materialize_grads(3), TypeError, r"expected \(bool\)"),
        (lambda ctx, x: setattr(ctx, "saved_tensors", 1), AttributeError, "is not writable"),
        (lambda ctx, x: ctx.nothing, AttributeError, "'CustomBackward' object has no attribute"),
    ],
)
def test_ctx_refuses_what_makes_no_sense(prepare, error, message):
    function = custom(lambda ctx, x: (prepare(ctx, x), x * 2)[1], twice)
    with pytest.raises(error, match=message):
        function.apply(leaf(1.0))


def test_a_second_backward_is_an_error_only_for_who_asks_for_what_was_saved():
    y = Square.apply(leaf(1.0))
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()
    y = custom(doubled, twice).apply(leaf(1.0))
    y.backward()
    y.backward()


def test_methods_that_are_missing_are_named():
    with pytest.raises(NotImplementedError, match="You must implement the forward function"):
        Function.apply(leaf(1.0))
    with pytest.raises(NotImplementedError, match="either the backward or vjp method"):
        custom(doubled).apply(leaf(1.0)).backward()


def test_functions_are_not_instantiated_and_their_nodes_not_pickled():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Square()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        instance(leaf(1.0))
    node = Square.apply(leaf(1.0)).grad_fn
    for store in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'CustomBackward' object"):
            store(node)


def test_setup_context_may_not_save_an_argument_that_is_returned():
    function = custom(
        lambda x: x, twice, setup_context=lambda ctx, inputs, y: ctx.save_for_backward(y)
    )
    with pytest.raises(RuntimeError, match="An input that has been returned as-is as output"):
        function.apply(leaf(1.0))


# --- forward mode ---

forward_ad = torch.autograd.forward_ad


def tangent(function, x, t):
    """The tangent of the result, or of each of several."""
    with forward_ad.dual_level():
        y = function(forward_ad.make_dual(x, t))
        if isinstance(y, tuple):
            return tuple(forward_ad.unpack_dual(each).tangent for each in y)
        return forward_ad.unpack_dual(y).tangent


def test_jvp_gives_the_tangent():
    assert tangent(Cube.apply, torch.tensor([3.0]), torch.tensor([2.0])).tolist() == [54]


def test_forward_over_reverse_and_reverse_over_forward():
    x = torch.tensor([2.0], requires_grad=True)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(1))
        (slope,) = torch.autograd.grad(Cube.apply(dual), dual, create_graph=True)
        assert forward_ad.unpack_dual(slope).tangent.tolist() == [12]
        t = forward_ad.unpack_dual(Cube.apply(forward_ad.make_dual(x, torch.ones(1)))).tangent
    assert torch.autograd.grad(t, x)[0].tolist() == [12]


def test_forward_over_forward():
    def slope(f):
        return lambda x: torch.func.jvp(f, (x,), (torch.ones(1),))[1]

    found = [f(torch.tensor([2.0])).item() for f in (slope(Cube.apply), slope(slope(Cube.apply)))]
    assert found == [12, 12]


def test_tangents_of_what_does_not_change_are_zeros_and_of_no_tensors_none():
    seen = []

    def jvp(ctx, *tangents):
        seen.append([None if t is None else t.tolist() for t in tangents])
        return tangents[0]

    function = custom(lambda ctx, x, y, i, k: x * 2, jvp=jvp)
    tangent(
        lambda x: function.apply(x, torch.ones(1), torch.tensor([1]), 5), torch.ones(1), leaf(2.0)
    )
    assert seen == [[[2], [0], None, None]]


def test_a_tangent_has_memory_of_its_own():
    same = custom(lambda ctx, x: x * 1, jvp=lambda ctx, t: t)
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.ones(1), torch.ones(1))
        same.apply(x).mul_(3)
        assert forward_ad.unpack_dual(x).tangent.tolist() == [1]


def test_writes_in_place_write_the_tangent():
    function = custom(doubled_in_place, twice, jvp=lambda ctx, t: t.mul_(2))

    def program(x):
        x = x.clone()
        function.apply(x[:1])
        return x

    assert tangent(program, torch.ones(2), torch.tensor([3.0, 4.0])).tolist() == [6, 4]


def test_a_write_may_give_its_first_tangent_to_a_tensor():
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.mul_(y)

    function = custom(forward, jvp=lambda ctx, t, s: t.add_(s * 10))

    def program(x):
        target = torch.ones(2)
        function.apply(target[1:], x)
        return target

    assert tangent(program, torch.ones(1), torch.tensor([2.0])).tolist() == [0, 20]


def test_a_first_tangent_may_be_any_tensor_and_is_copied():
    shared = torch.tensor([2.0])
    function = custom(doubled_in_place, jvp=lambda ctx, t: shared)

    def program(x):
        target = torch.ones(1)
        custom(
            lambda ctx, y, x: (ctx.mark_dirty(y), y.mul_(x))[1], jvp=lambda ctx, s, t: shared
        ).apply(target, x)
        return target * 3

    assert tangent(program, torch.ones(1), torch.tensor([5.0])).tolist() == [6]
    assert shared.tolist() == [2]
    with pytest.raises(RuntimeError, match="is not modifying"):
        tangent(lambda x: function.apply(x.clone()), torch.ones(1), torch.ones(1))


def test_jvp_finds_what_was_saved_for_it_alone():
    seen = []
    both = custom(square, square_back, jvp=lambda ctx, t: (seen.append(ctx.saved_tensors), t)[1])
    tangent(both.apply, torch.ones(1), torch.ones(1))
    assert seen == [()]


def view_of_dual(ctx, x):
    return x.view(2, 1)


@pytest.mark.parametrize(
    ("forward", "jvp", "message"),
    [
        (doubled, lambda ctx, t: (t, t), r"invalid number of forward gradients \(expected 1 but"),
        (doubled, lambda ctx, t: 3.0, r"expected Variable or None \(got float\) for grad output 0"),
        (doubled, lambda ctx, t: torch.ones(3), "a different size than that of the original"),
        (doubled, lambda ctx, t: None, "its forward grad to be floating point or complex"),
        (doubled, lambda ctx, t: t.long(), "its forward grad to be floating point or complex"),
        (doubled_in_place, lambda ctx, t: t * 2, "is not modifying the forward mode gradients"),
        (doubled_in_place, lambda ctx, t: t, "is not modifying the forward mode gradients"),
        (doubled_in_place, lambda ctx, t: None, "is not modifying the forward mode gradients"),
        (doubled_in_place, lambda ctx, t: t.mul_(2)[:], "not returning the forward mode gradients"),
        (view_of_dual, lambda ctx, t: None, "on undefined tensor"),
        (view_of_dual, lambda ctx, t: t.sum(), "but the jvp is not returning a view"),
        (
            lambda ctx, x: view_of_dual(ctx, x[:]),
            lambda ctx, t: torch.ones(4)[:2].view(2, 1),
            "a view of the given grad input",
        ),
        (view_of_dual, lambda ctx, t: t.view(2, 1).clone(), "but the jvp is not returning a view"),
        (view_of_dual, lambda ctx, t: t.clone().view(2, 1), "a view of the given grad input"),
        (lambda ctx, x: x.argmax(), lambda ctx, t: t, "output is not a differentiable Tensor"),
    ],
)
def test_wrong_tangents_are_refused(forward, jvp, message):
    with pytest.raises(RuntimeError, match=message):
        tangent(custom(forward, jvp=jvp).apply, torch.ones(2), torch.ones(2))


def test_a_function_without_jvp_says_so():
    with pytest.raises(NotImplementedError, match="You must implement the jvp function"):
        tangent(custom(doubled, twice).apply, torch.ones(2), torch.ones(2))


def test_views_of_arguments_have_views_of_tangents():
    function = custom(view_of_dual, jvp=lambda ctx, t: t.view(2, 1))
    assert tangent(function.apply, torch.ones(2), torch.tensor([2.0, 1.0])).tolist() == [[2], [1]]


# --- with the transforms of torch.func ---


class ByNumPy(Function):
    """A product that NumPy computes, batches and all."""

    @staticmethod
    def forward(x, y):
        return torch.tensor(x.numpy() * y.numpy())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return ByNumPy.apply(g, y), ByNumPy.apply(g, x)

    @staticmethod
    def jvp(ctx, a, b):
        x, y = ctx.saved_tensors
        return ByNumPy.apply(a, y) + ByNumPy.apply(x, b)

    @staticmethod
    def vmap(info, in_dims, x, y):
        assert info.randomness == "error" and info.batch_size in (2, 3)
        x, y = (
            each.unsqueeze(-1) if dim is None else each.movedim(dim, -1)
            for each, dim in zip((x, y), in_dims, strict=True)
        )
        return ByNumPy.apply(x, y).movedim(-1, 0), 0


class MappedCube(Cube):
    generate_vmap_rule = True


ROWS = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
ROW = torch.tensor([2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (lambda f: torch.func.vmap(f, (0, None))(ROWS, ROW), ROWS * ROW),
        (lambda f: torch.func.vmap(torch.func.vmap(f))(ROWS, ROWS), ROWS * ROWS),
        (
            lambda f: torch.func.grad(lambda y: torch.func.vmap(f, (0, None))(ROWS, y).sum())(ROW),
            torch.tensor([5.0, 7.0, 9.0]),
        ),
        (
            lambda f: torch.func.vmap(torch.func.grad(lambda x: f(x, f(x, x)).sum()))(ROWS),
            3 * ROWS**2,
        ),
        (
            lambda f: torch.func.vmap(
                lambda x: torch.func.jvp(lambda x: f(x, x), (x,), (torch.ones_like(x),))[1]
            )(ROWS),
            2 * ROWS,
        ),
        (lambda f: torch.func.jacrev(lambda x: f(x, ROW))(ROW), torch.diag(ROW)),
        (lambda f: torch.func.jacfwd(lambda x: f(x, ROW))(ROW), torch.diag(ROW)),
    ],
)
def test_a_vmap_of_ones_own_goes_with_every_transform(compute, expected):
    assert torch.equal(compute(ByNumPy.apply), expected)


def test_a_generated_rule_runs_the_methods_on_batches():
    apply, func = MappedCube.apply, torch.func
    assert torch.equal(func.vmap(apply)(ROWS), ROWS**3)
    assert torch.equal(func.vmap(func.grad(lambda x: apply(x).sum()))(ROWS), 3 * ROWS**2)
    for second in (func.hessian, lambda f: func.jacfwd(func.jacfwd(f))):
        assert torch.equal(second(lambda x: apply(x).sum())(ROW), torch.diag(6 * ROW))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (Cube, "You tried to vmap over Cube, but it does not have vmap support"),
        (Square, "it must override the setup_context staticmethod"),
        (
            type("Both", (MappedCube,), {"vmap": staticmethod(lambda info, dims, x: (x, 0))}),
            "it has both generate_vmap_rule=True and an overridden vmap staticmethod",
        ),
        (
            type("One", (Cube,), {"vmap": staticmethod(lambda info, dims, x: x)}),
            "Expected the vmap staticmethod to have two returns",
        ),
        (
            type("Two", (Cube,), {"vmap": staticmethod(lambda info, dims, x: (x, (0, 0)))}),
            r"returned an incompatible \(output, out_dims\) tuple",
        ),
    ],
)
def test_functions_that_do_not_go_with_vmap_say_so(function, message):
    with pytest.raises(RuntimeError, match=message):
        torch.func.vmap(function.apply)(ROWS)


def test_numpy_takes_what_requires_grad_inside_a_function():
    x, y = leaf(2.0), leaf(3.0)
    ByNumPy.apply(x, y).backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3], [2])


def test_the_edge_behind_a_result_stands_for_it():
    x = leaf(1.0, 2.0)
    y = Square.apply(x)
    edge = torch.autograd.graph.GradientEdge(y.grad_fn, 0)
    assert torch.autograd.grad(edge, x, torch.ones(2), retain_graph=True)[0].tolist() == [2, 4]
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert torch.autograd.grad(y.sum(), edge)[0].tolist() == [1, 1]


# --- against finite differences ---


D = torch.float64


class Blend(Function):
    """Two results of two arguments and a number, with all that a function may say."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, k):
        z = x.sin() * y
        return z * k, z * z

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y, ctx.k = inputs
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        dz = g * ctx.k + 2 * h * x.sin() * y
        return dz * x.cos() * y, dz * x.sin(), None

    @staticmethod
    def jvp(ctx, a, b, _):
        x, y = ctx.saved_tensors
        dz = a * x.cos() * y + x.sin() * b
        return dz * ctx.k, 2 * x.sin() * y * dz


@pytest.mark.parametrize("fast", [False, True])
def test_derivatives_of_both_modes_and_orders_agree_with_differences(fast):
    inputs = [
        torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in ([0.3, 2], [1.5, 7])
    ]
    every = {"check_forward_ad": True, "check_batched_grad": True, "fast_mode": fast}
    assert torch.autograd.gradcheck(
        lambda x, y: Blend.apply(x, y, 3.0), inputs, check_batched_forward_grad=True, **every
    )
    assert torch.autograd.gradgradcheck(
        lambda x, y: Blend.apply(x, y, 3.0), inputs, check_fwd_over_rev=True, fast_mode=fast
    )


def test_a_write_in_place_agrees_with_differences():
    function = custom(
        lambda ctx, x: (ctx.mark_dirty(x), x.mul_(3))[1],
        lambda ctx, g: g * 3,
        jvp=lambda ctx, t: t.mul_(3),
    )
    x = torch.tensor([0.3, 2.0, 1.0], dtype=D, requires_grad=True)

    def program(x):
        y = x.sin()
        function.apply(y[1:])
        return y * y

    assert torch.autograd.gradcheck(program, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(program, x)


def test_the_warning_about_a_mark_names_the_line_of_the_call():
    function = custom(lambda ctx, x: (y := x * 2, ctx.mark_dirty(y))[0], doubled)
    with pytest.warns(UserWarning, match="received a tensor that was not an input") as caught:
        function.apply(leaf(1.0))
    assert caught[0].filename == __file__


def test_a_view_that_forward_wrote_is_behind_the_function():
    def forward(ctx, x, whole):
        copy = x.clone()
        part = copy[:2]
        (copy if whole else part).add_(2)
        return part

    f = custom(forward, lambda ctx, g: (torch.cat([g, g]), None))
    for whole in (False, True):
        x = leaf(1.0, 2.0, 3.0, 4.0)
        y = f.apply(x, whole)
        assert y.grad_fn.name() == "CustomBackward" and y._version == 1
        y.sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0, 1.0]
        with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
            y.add_(1)


def test_the_node_behind_gradients_that_cannot_be_differentiated_has_their_places():
    f = custom(lambda ctx, x, k: x * k, once_differentiable(lambda ctx, g: (g * 2, None)))
    x = leaf(1.0)
    (g,) = torch.autograd.grad(f.apply(x, 2), x, leaf(1.0), create_graph=True)
    assert g.grad_fn.name() == "torch::autograd::Error"
    nodes = [node if node is None else type(node).__name__ for node, _ in g.grad_fn.next_functions]
    assert nodes == ["AccumulateGrad", None]


def test_zeros_are_not_made_for_results_without_a_gradient_if_that_is_said():
    def forward(ctx, x, zeros):
        a, b = x.clone(), x.clone()
        ctx.mark_non_differentiable(b)
        ctx._materialize_non_diff_grads = zeros
        return a, b

    given = []
    f = custom(forward, lambda ctx, g, h: (given.append(h), (g, None))[1])
    for zeros in (True, False):
        f.apply(leaf(1.0), zeros)[0].backward()
    assert given[0].tolist() == [0.0] and given[1] is None


def test_what_is_none_among_saved_tensors_cannot_be_packed():
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 1

    saved = custom(forward).apply(leaf(1.0)).grad_fn._raw_saved_tensors
    assert saved[1].data is None
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        saved[1].register_hooks(lambda x: x, lambda x: x)


def test_an_argument_that_is_returned_is_viewed_as_its_class_says():
    seen = []

    class Named(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    y = custom(lambda ctx, x: x).apply(torch.ones(2).as_subclass(Named))
    assert type(y) is Named and seen == ["view_as"]
