"""What PyTorch refuses: the class, the message, advice in a note; and all stays as it was."""

from contextlib import contextmanager

import numpy as np
import pytest

import tapegrad as torch

AGAIN = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward."
)
ON_A_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
ON_A_VIEW = "a view of a leaf Variable that requires grad is being used in an in-place operation."
NON_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed "
    "variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
)
NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
UNTRACKED = "element 0 of tensors does not require grad and does not have a grad_fn"
INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
    "inference mode in computation tracked by autograd. To work around this, you can make a clone "
    "to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
    "`torch.inference_mode()`."
)


@contextmanager
def refused(error, message):
    """An error of exactly this class and message, with a note that says what to do."""
    with pytest.raises(error) as caught:
        yield caught
    assert type(caught.value) is error
    assert str(caught.value) == message
    assert any(len(note) > 8 for note in caught.value.__notes__)


def leaf(*values):
    return torch.tensor(values if len(values) != 1 else values[0], requires_grad=True)


# --- backward and grad ---


def test_a_second_backward_through_a_freed_graph():
    x = leaf(2.0)
    y = x * x
    y.backward()
    with refused(RuntimeError, AGAIN):
        y.backward()
    assert x.grad.item() == 4.0


def test_a_second_backward_through_a_node_that_saved_three_things():
    x = torch.ones(2, requires_grad=True)
    y = (x**x).sum()
    y.backward()
    with refused(RuntimeError, AGAIN):
        y.backward()


def test_a_graph_that_is_freed_in_its_depth_changes_no_gradient():
    x, w = leaf(2.0), leaf(3.0)
    shared = x * x
    shared.backward()
    with refused(RuntimeError, AGAIN):
        (shared * w).backward()
    assert x.grad.item() == 4.0 and w.grad is None


def test_backward_of_what_is_no_number_needs_a_cotangent():
    x = leaf(1.0, 2.0)
    y = x * 2
    message = "grad can be implicitly created only for scalar outputs"
    with refused(RuntimeError, message):
        y.backward()
    with refused(RuntimeError, message):
        torch.autograd.grad(y, x)
    assert x.grad is None
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_backward_of_a_complex_number_needs_a_cotangent():
    z = torch.tensor(1 + 2j, requires_grad=True)
    message = "grad can be implicitly created only for real scalar outputs but got torch.complex64"
    with refused(RuntimeError, message):
        (z * 2).backward()


@pytest.mark.parametrize("shape", [(3,), (2, 1), ()])
def test_a_cotangent_has_the_shape_of_its_output(shape):
    x = leaf(1.0, 2.0)
    message = (
        f"Mismatch in shape: grad_output[0] has a shape of torch.Size({list(shape)}) and "
        "output[0] has a shape of torch.Size([2])."
    )
    with refused(RuntimeError, message):
        (x * 2).backward(torch.ones(shape))
    assert x.grad is None


def test_cotangents_of_real_outputs_are_real_and_of_complex_outputs_complex():
    message = (
        "For complex Tensors, both grad_output and output are required to have the same dtype. "
        "Mismatch in dtype: grad_output[0] has a dtype of {} and output[0] has a dtype of {}."
    )
    with refused(RuntimeError, message.format("torch.complex64", "torch.float32")):
        (leaf(1.0) * 2).backward(torch.tensor(1j))
    z = torch.tensor(1j, requires_grad=True)
    with refused(RuntimeError, message.format("torch.float32", "torch.complex64")):
        (z * 2).backward(torch.tensor(1.0))


def test_cotangents_are_tensors():
    with refused(TypeError, "gradients can be either Tensors or None, but got float"):
        torch.autograd.backward([leaf(1.0) * 2], [3.0])


def test_there_is_a_cotangent_for_each_output():
    outputs = [leaf(1.0) * 2, leaf(1.0) * 2]
    with refused(RuntimeError, "got 2 tensors and 1 gradients"):
        torch.autograd.backward(outputs, [torch.tensor(1.0)])


def test_no_output_requires_grad():
    for y in (torch.tensor(1.0), leaf(1.0).detach() * 2, torch.ones(2)):
        with refused(RuntimeError, UNTRACKED):
            y.backward()
    with torch.no_grad():
        y = leaf(1.0) * 2
    with refused(RuntimeError, UNTRACKED):
        y.backward()
    x = leaf(1.0)
    with refused(RuntimeError, UNTRACKED.replace("0", "1")):
        torch.autograd.backward([x * 2, torch.tensor(1.0)])
    assert x.grad is None


def test_an_input_that_does_not_require_grad():
    x = leaf(1.0)
    with refused(RuntimeError, "One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x * 2, (x, torch.tensor(1.0)))
    with refused(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"):
        (x * 2).backward(inputs=[torch.tensor(1.0)])
    assert x.grad is None


def test_an_input_that_was_not_used():
    x, w = leaf(1.0), leaf(2.0)
    message = (
        "The differentiated Tensor at index 1 appears to not have been used in the graph. Set "
        "allow_unused=True if this is the desired behavior."
    )
    with refused(RuntimeError, message):
        torch.autograd.grad(x * 2, (x, w))


@pytest.mark.parametrize("function", ["backward", "grad"])
def test_no_inputs_at_all(function):
    message = f"`inputs` argument to `{function}()` cannot be empty."
    with refused(RuntimeError, message):
        getattr(torch.autograd, function)(leaf(1.0) * 2, inputs=[])


# --- requires_grad ---


def test_integers_have_no_gradient():
    message = "only Tensors of floating point dtype can require gradients"
    x = torch.tensor([1, 2])
    with refused(RuntimeError, message):
        x.requires_grad_()
    message = "only Tensors of floating point and complex dtype can require gradients"
    with refused(RuntimeError, message):
        x.requires_grad = True
    assert not x.requires_grad
    message = "Only Tensors of floating point and complex dtype can require gradients"
    for dtype in (torch.int64, torch.bool, torch.uint8):
        with refused(RuntimeError, message):
            torch.tensor([1, 0], dtype=dtype, requires_grad=True)
        with refused(RuntimeError, message):
            torch.zeros(2, dtype=dtype, requires_grad=True)


def test_requires_grad_of_a_non_leaf_is_not_switched_off():
    y = leaf(1.0) * 2
    with refused(RuntimeError, NON_LEAF):
        y.requires_grad_(False)
    with refused(RuntimeError, NON_LEAF):
        y.requires_grad = False
    assert y.requires_grad


def test_numpy_arrays_have_no_gradient():
    for x in (leaf(1.0, 2.0), leaf(1.0, 2.0) * 2):
        with refused(RuntimeError, NUMPY):
            x.numpy()
        with refused(RuntimeError, NUMPY):
            np.asarray(x)


# --- writes ---


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda x: x.add_(1), ON_A_LEAF),
        (lambda x: x.zero_(), ON_A_LEAF),
        (lambda x: x.copy_(torch.zeros(2)), ON_A_LEAF),
        (lambda x: x.__iadd__(1), ON_A_LEAF),
        (lambda x: x.__imul__(torch.ones(2)), ON_A_LEAF),
        (lambda x: x.__setitem__(0, 5.0), ON_A_VIEW),
        (lambda x: x.view(2, 1).add_(1), ON_A_VIEW),
        (lambda x: x[0].mul_(3), ON_A_VIEW),
    ],
)
def test_a_leaf_that_requires_grad_is_not_written(write, message):
    x = leaf(1.0, 2.0)
    with refused(RuntimeError, message):
        write(x)
    assert x.tolist() == [1.0, 2.0] and x._version == 0 and x.is_leaf


def changed(kind, shape, origin, version, expected):
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{kind}Tensor {shape}]{origin} is at version {version}; expected "
        f"version {expected} instead. Hint: enable anomaly detection to find the operation that "
        "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, "
        "check_nan=False)."
    )


def test_an_output_that_was_kept_is_not_changed():
    x = leaf(1.0, 2.0)
    y = x.exp()
    y.add_(1)
    message = changed("Float", [2], ", which is output 0 of Exp,", 1, 0)
    with refused(RuntimeError, message) as caught:
        y.sum().backward()
    assert "add_" in caught.value.__notes__[0] and "test_errors.py:" in caught.value.__notes__[0]
    assert x.grad is None


def test_an_input_that_was_kept_is_not_changed():
    x, w = leaf(1.0, 2.0), torch.ones(2, 1, dtype=torch.float64)
    y = x * w
    w.mul_(3).mul_(2)
    with refused(RuntimeError, changed("Double", [2, 1], "", 2, 0)) as caught:
        y.sum().backward()
    assert "mul_" in caught.value.__notes__[0]
    assert x.grad is None


def test_a_change_through_a_view_is_found_out():
    x = leaf(1.0, 2.0)
    w = torch.ones(2)
    y = x * w
    w[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        y.sum().backward()
    assert "test_errors.py:" in caught.value.__notes__[0]


def test_a_saved_tensor_is_named_as_it_is_when_the_backward_pass_finds_it_written():
    def message(write, saving, by=torch.sin):
        y = torch.ones(3, 2, requires_grad=True) * 1
        row = y[0]
        z = by(y if saving == "base" else row)
        write(y, row)
        with pytest.raises(RuntimeError) as caught:
            z.sum().backward()
        return str(caught.value).split("operation: ")[-1].split(" is at")[0]

    def turn(y, row):
        y.t_().mul_(2)

    double = "which is output 0 of"
    assert message(lambda y, row: y.unsqueeze_(0), "base") == (
        f"[torch.FloatTensor [1, 3, 2]], {double} Unsqueeze1,"
    )
    assert message(turn, "base") == f"[torch.FloatTensor [2, 3]], {double} Mul,"
    assert message(lambda y, row: row.mul_(2), "base") == (
        f"[torch.FloatTensor [3, 2]], {double} torch::autograd::CopySlices,"
    )
    assert message(lambda y, row: y.copy_(torch.ones(2, requires_grad=True)), "base") == (
        f"[torch.FloatTensor [3, 2]], {double} torch::autograd::CopyBackwards,"
    )
    assert message(lambda y, row: y.mul_(2), "view") == (
        f"[torch.FloatTensor [2]], {double} AsStrided,"
    )
    assert message(lambda y, row: y.mul_(2), "view", torch.Tensor.exp_) == (
        f"[torch.FloatTensor [2]], {double} AsStrided,"
    )
    assert message(lambda y, row: y.mul_(2).detach_(), "base").startswith(
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    )


def test_a_change_before_it_was_kept_is_no_error():
    x, w = leaf(1.0, 2.0), torch.ones(2)
    w.mul_(3)
    (x * w).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_change_through_data_is_not_found_out():
    x, w = leaf(1.0, 2.0), torch.ones(2)
    y = x * w
    w.data.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_a_write_that_fails_leaves_the_tensor_as_it_was():
    x = leaf(1.0, 2.0)
    y = x * 2
    node = y.grad_fn
    for write in (lambda: y.add_(torch.ones(3)), lambda: y.add_(torch.ones(3, 2))):
        with pytest.raises(RuntimeError):
            write()
    n = torch.ones(2, dtype=torch.int64)
    with refused(RuntimeError, "result type Float can't be cast to the desired output type Long"):
        n.add_(1.5)
    assert y.tolist() == [2.0, 4.0] and y._version == 0 and y.grad_fn is node
    assert n.tolist() == [1, 1] and n._version == 0


@pytest.mark.parametrize("records", [True, False])
def test_elements_that_are_one_place_in_memory_are_not_written(records):
    message = (
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation."
    )
    x = torch.ones(2)
    with torch.set_grad_enabled(records), refused(RuntimeError, message):
        x.expand(3, 2).mul_(2)
    assert x.tolist() == [1.0, 1.0] and x._version == 0


def test_an_operator_with_out_is_not_differentiated():
    message = (
        "add(): functions with out=... arguments don't support automatic differentiation, but one "
        "of the arguments requires grad."
    )
    out = torch.zeros(2)
    with refused(RuntimeError, message):
        torch.add(leaf(1.0, 2.0), 1, out=out)
    assert out.tolist() == [0.0, 0.0]


# --- inference tensors ---


def test_inference_tensors_are_not_kept():
    with torch.inference_mode():
        z = torch.ones(2)
    with refused(RuntimeError, INFERENCE):
        z * leaf(1.0, 2.0)


def test_inference_tensors_are_not_written_outside():
    with torch.inference_mode():
        z = torch.ones(2)
    message = (
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a "
        "clone to get a normal tensor before doing inplace update.See "
        "https://github.com/pytorch/rfcs/pull/17 for more details."
    )
    with refused(RuntimeError, message):
        z.add_(1)
    message = "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
    with refused(RuntimeError, message):
        z.requires_grad_()
    with refused(RuntimeError, "Inference tensors do not track version counter."):
        _ = z._version
    assert z.tolist() == [1.0, 1.0]


# --- .grad ---


def test_the_gradient_of_a_non_leaf_is_warned_of():
    y = (leaf(1.0) * 2).exp()
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed") as caught:
        assert y.grad is None
    message = str(caught[0].message)
    assert "ExpBackward0" in message and "retain_grad()" in message
    assert caught[0].filename == __file__


def test_what_is_assigned_to_grad_fits():
    x = leaf(1.0)
    with refused(
        TypeError, "assigned grad expected to be a Tensor or None but got grad of type int"
    ):
        x.grad = 3
    message = (
        "attempting to assign a gradient of size '[2]' to a tensor of size '[]'. Please ensure "
        "that the gradient and the tensor are the same size"
    )
    with refused(RuntimeError, message):
        x.grad = torch.ones(2)
    with refused(RuntimeError, "can't assign Variable as its own grad"):
        x.grad = x
    with pytest.raises(RuntimeError, match=r"a gradient with dtype .double. to"):
        x.grad = torch.ones((), dtype=torch.float64)
    assert x.grad is None


def test_data_is_a_tensor_that_can_have_a_gradient():
    x = leaf(1.0)
    with refused(TypeError, "Variable data has to be a tensor, but got int"):
        x.data = 3
    message = "data set to a tensor that requires gradients must be floating point or complex dtype"
    with refused(RuntimeError, message):
        x.data = torch.tensor(1)
    assert x.item() == 1.0


# --- shapes, dtypes, dimensions, indices ---


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: torch.ones(2) + torch.ones(3),
            RuntimeError,
            "The size of tensor a (2) must match the size of tensor b (3) at non-singleton "
            "dimension 0",
        ),
        (
            lambda: torch.ones(2, 3) * torch.ones(4, 3),
            RuntimeError,
            "The size of tensor a (2) must match the size of tensor b (4) at non-singleton "
            "dimension 0",
        ),
        (
            lambda: torch.ones(2, 3) @ torch.ones(2, 3),
            RuntimeError,
            "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
        ),
        (
            lambda: torch.ones(2, 3) @ torch.ones(2),
            RuntimeError,
            "size mismatch, got input (2), mat (2x3), vec (2)",
        ),
        (
            lambda: torch.ones(3) @ torch.ones(2),
            RuntimeError,
            "inconsistent tensor size, expected tensor [3] and src [2] to have the same number of "
            "elements, but got 3 and 2 elements respectively",
        ),
        (
            lambda: torch.ones(()) @ torch.ones(2),
            RuntimeError,
            "both arguments to matmul need to be at least 1D, but they are 0D and 1D",
        ),
        (
            lambda: torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.int64),
            RuntimeError,
            "expected m1 and m2 to have the same dtype, but got: float != long int",
        ),
        (
            lambda: torch.ones(2).sum(1),
            IndexError,
            "Dimension out of range (expected to be in range of [-1, 0], but got 1)",
        ),
        (
            lambda: torch.ones(2, 2).sum(-3),
            IndexError,
            "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
        ),
        (
            lambda: torch.ones(2)[2],
            IndexError,
            "index 2 is out of bounds for dimension 0 with size 2",
        ),
        (
            lambda: torch.ones(2)[-3],
            IndexError,
            "index -3 is out of bounds for dimension 0 with size 2",
        ),
        (
            lambda: torch.ones(2, 2)[0, 0, 0],
            IndexError,
            "too many indices for tensor of dimension 2",
        ),
        (
            lambda: torch.ones(2)[torch.tensor([0, 5])],
            IndexError,
            "index 5 is out of bounds for dimension 0 with size 2",
        ),
        (
            lambda: torch.ones(())[0],
            IndexError,
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number",
        ),
        (
            lambda: torch.ones(2, 3).view(4),
            RuntimeError,
            "shape '[4]' is invalid for input of size 6",
        ),
        (
            lambda: torch.ones(2).item(),
            RuntimeError,
            "a Tensor with 2 elements cannot be converted to Scalar",
        ),
        (
            lambda: bool(torch.ones(2)),
            RuntimeError,
            "Boolean value of Tensor with more than one value is ambiguous",
        ),
    ],
)
def test_shapes_dtypes_dimensions_and_indices(call, error, message):
    with refused(error, message):
        call()


DETACHED = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."


def test_what_was_saved_may_not_be_detached_in_place():
    x = torch.tensor([3.0, 1.0], requires_grad=True)
    for y in (x.clone(), x.sort()[0]):
        z = y.sin()
        y.detach_()
        with pytest.raises(RuntimeError, match=DETACHED):
            z.sum().backward()
    y = x.clone()
    view = y.view(2)  # has a node of its own
    z = view.sin() + y
    y.detach_()
    z.sum().backward()
    assert torch.allclose(x.grad, x.cos() + 1)


def test_a_result_that_its_node_saved_may_be_detached_and_then_not_be_written():
    def slope(change):
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        y = x.exp()
        z = (y * 2).sum()
        change(y.detach_())
        z.backward()
        return x.grad

    assert torch.allclose(slope(lambda y: None), 2 * torch.tensor([0.0, 1.0]).exp())
    with pytest.raises(RuntimeError, match="which is output 0 of Exp, is at version 1"):
        slope(lambda y: y.add_(1))


def test_a_leaf_that_was_saved_may_not_be_written_when_it_has_stopped_requiring_grad():
    for stop in (torch.Tensor.detach_, lambda x: x.requires_grad_(False)):
        x = torch.tensor([1.0], requires_grad=True)
        y = x.sin()
        stop(x)
        y.backward(retain_graph=True)  # goes nowhere
        x.add_(1)
        with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
            y.backward()
