"""What `explain` says in the situations that people meet: the cause, the line, what to do.

Each function makes one of them and returns the tensor to ask about. `{here}` stands for the line
with the comment `# here`.
"""

import copy
import inspect

import pytest

import tapegrad as torch
import tapegrad.nn as nn
import tapegrad.nn.functional as F
from tapegrad.inspect import explain, watch

SITUATIONS = []


def says(*fragments):
    def keep(function):
        SITUATIONS.append(pytest.param(function, fragments, id=function.__name__))
        return function

    return keep


def leaf(*shape, value=1.0):
    return torch.full(shape or (3,), value, requires_grad=True)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("situation", "fragments"), SITUATIONS)
def test_explain_names_the_cause_the_line_and_what_to_do(situation, fragments):
    with watch():
        x, *_alive = situation()
    text = str(explain(x))
    lines, start = inspect.getsourcelines(situation)
    marked = [i for i, line in enumerate(lines) if line.rstrip().endswith("# here")]
    here = f"{__file__}:{start + marked[0]}" if marked else ""
    for fragment in fragments:
        assert fragment.replace("{here}", here) in text, text


# --- no gradient: results and tensors without history ---------------------------------------------


@says("made by MulBackward0 at {here}", "only leaves keep their gradient. Call retain_grad()")
def not_a_leaf():
    w = leaf()
    y = w * 2  # here
    y.sum().backward()
    return y, w


@says("no backward pass has reached it since retain_grad(). The last one was at {here}")
def retain_grad_too_late():
    w = leaf()
    y = w * 2
    y.sum().backward()  # here
    y.retain_grad()
    return y, w


@says("made from data by ones() at {here}: pass requires_grad=True there")
def never_requires_grad():
    w, v = torch.ones(3), leaf()  # here
    (w * v).sum().backward()
    return w, v


@says("lost by mul() under torch.inference_mode() at {here}", "Move that line out of the block")
def result_of_inference_mode():
    w = leaf()
    with torch.inference_mode():
        return w * 2, w  # here


@says("made from data by from_numpy() at {here}", "What NumPy or Python computed has no history")
def result_of_numpy():
    w = leaf()
    return torch.from_numpy(w.detach().numpy() * 2), w  # here


@says("It is a frozen parameter: requires_grad_(True) lets gradients to it again")
def frozen_layer():
    model, head = nn.Linear(2, 1).requires_grad_(False), nn.Linear(1, 1)
    head(model(torch.ones(1, 2))).sum().backward()
    return model.weight, model, head


@says("lost by state_dict() at {here}", "compute with the tensor itself")
def entry_of_a_state_dict():
    model = nn.Linear(2, 1)
    return model.state_dict()["weight"], model  # here


@says("Its history was lost by detach_() at {here}")
def detached_in_place():
    w = leaf()
    hidden = w * 2
    hidden.detach_()  # here
    return hidden, w


@says("computed by mse_loss() at {here} from tensors of which none requires grad")
def loss_of_data_alone():
    return (F.mse_loss(torch.ones(3), torch.zeros(3)),)  # here


@says("lost by argmax(), whose result is torch.int64 at {here}", "softmax() in place of argmax()")
def accuracy_as_a_loss():
    w = leaf(3, 2)
    chosen = w.argmax(1)  # here
    return (chosen == torch.zeros(3)).float().mean(), w


@says("Tensors of torch.int64 have no gradient: convert it")
def integers():
    return (torch.arange(3),)


@says("It is a view of a leaf: the .grad of that leaf has the numbers")
def view_of_a_leaf():
    w = leaf()
    (w * 2).sum().backward()
    return w[0], w


def _scaled():
    return torch.ones(3, requires_grad=True) * 0.01


@says("Nobody else has the leaf that it was computed from", ".detach().requires_grad_()")
def scaled_after_it_was_made():
    w = _scaled()
    (w * w).sum().backward()
    return (w,)


@says("Nobody else has the leaf", "The dtype= and device= of what makes the leaf")
def converted_after_it_was_made():
    w = torch.ones(3, requires_grad=True).to(torch.float64)
    (w * w).sum().backward()
    return (w,)


@says("made by SubBackward0 at {here}", "update it in place under torch.no_grad()")
def updated_by_assignment():
    w = leaf()
    (w * w).sum().backward()
    w = w - 0.1 * w.grad  # here
    (w * w).sum().backward()
    return (w,)


# --- no gradient: leaves whose history was lost ---------------------------------------------------


@says("detach() at {here}", "Leave detach() out there")
def detached():
    w, v = leaf(), leaf()
    (w.exp().detach() * v).sum().backward()  # here
    return w, v


@says("  .data at {here}", "Use the tensor itself in place of .data")
def through_data():
    w, v = leaf(), leaf()
    (w.data * v).sum().backward()  # here
    return w, v


@says("mul() under torch.no_grad() at {here}", "Move that line out of the block")
def under_no_grad():
    w, v = leaf(), leaf()
    with torch.no_grad():
        hidden = w * 2  # here
    (hidden * v).sum().backward()
    return w, v


@says("exp() under torch.no_grad() at {here}")
def under_set_grad_enabled():
    w, v = leaf(), leaf()
    with torch.set_grad_enabled(False):
        hidden = w.exp()  # here
    (hidden * v).sum().backward()
    return w, v


@says("exp() under torch.no_grad() at {here}")
def in_a_decorated_function():
    w, v = leaf(), leaf()

    @torch.no_grad()
    def features():
        return w.exp()  # here

    (features() * v).sum().backward()
    return w, v


@says("to(), whose result is torch.int64 at {here}", "Integers and booleans have no gradient")
def cast_to_integers():
    w, v = leaf(), leaf()
    (w.long() * v).sum().backward()  # here
    return w, v


@says("gt(), whose result is torch.bool at {here}", "sigmoid() in place of a comparison")
def compared():
    w, v = leaf(), leaf()
    ((w > 0).float() * v).sum().backward()  # here
    return w, v


@says("argmax(), whose result is torch.int64 at {here}")
def by_argmax():
    w, v = leaf(3, 4), leaf()
    (w.argmax(1) * v).sum().backward()  # here
    return w, v


@says("detach() at {here}, and went on by numpy() at {here}", "compute with functions of torch")
def through_numpy():
    w, v = leaf(), leaf()
    numbers = w.detach().numpy() * 2  # here
    (torch.from_numpy(numbers) * v).sum().backward()
    return w, v


@says("  torch.tensor() at {here}", "use the tensor itself, or its clone()")
def copied_by_tensor():
    w, v = leaf(), leaf()
    (torch.tensor(w) * v).sum().backward()  # here
    return w, v


@says("  torch.tensor() at {here}", "join several by torch.stack()")
def joined_by_tensor():
    w, v = leaf(1), leaf(2)
    (torch.tensor([w, w * 2]) * v).sum().backward()  # here
    return w, v


@says("  item() at {here}", "What Python and NumPy compute has no history")
def through_item():
    w, v = leaf(1), leaf(2)
    (w.item() * v).sum().backward()  # here
    return w, v


@says("  float() at {here}")
def through_float():
    w, v = leaf(1), leaf(2)
    (float(w) * v).sum().backward()  # here
    return w, v


@says("  tolist() at {here}")
def through_tolist():
    w, v = leaf(2), leaf(2)
    (torch.tensor(w.tolist()) * v).sum().backward()  # here
    return w, v


@says("nn.Parameter() at {here}", "Parameter() makes a new leaf")
def wrapped_as_a_parameter():
    w = leaf()
    p = nn.Parameter(w * 2)  # here
    (p * p).sum().backward()
    return w, p


@says("detach() at {here}")
def assigned_by_index():
    w, v = leaf(), leaf()
    target = torch.zeros(3)
    target[:] = w.detach()  # here
    (target * v).sum().backward()
    return w, v


# --- no gradient: leaves that no pass led to ------------------------------------------------------


@says("mul() at {here} used it while it did not require grad: call requires_grad_() before")
def requires_grad_set_too_late():
    w, v = torch.ones(3), leaf()
    loss = (w * v).sum()  # here
    w.requires_grad_()
    loss.backward()
    return w, v


class TwoBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x):
        return self.used(x)


@says(
    "No operator has used TwoBranches.unused.weight inside watch()", "pass at {here} began at Sum"
)
def unused_branch():
    model = TwoBranches()
    model(torch.ones(1, 2)).sum().backward()  # here
    return model.unused.weight, model


@says("used last by mul() at {here}", "No backward pass has run inside watch(): call backward")
def backward_not_called():
    w = leaf()
    loss = (w * 2).sum()  # here
    return w, loss


@says(
    "used last by mul()", "The last backward pass at {here} began at SumBackward0", "not computed"
)
def backward_of_another_output():
    a, b = leaf(), leaf()
    first, second = (a * 2).sum(), (b * 3).sum()
    second.backward()  # here
    return a, b, first


@says("and it was set to None after that by zero_grad() at {here}")
def forgotten_by_zero_grad():
    w = leaf()
    (w * 2).sum().backward()
    torch.optim.SGD([w]).zero_grad()  # here
    return (w,)


@says("set to None after that by an assignment to .grad at {here}")
def forgotten_by_assignment():
    w = leaf()
    (w * 2).sum().backward()
    w.grad = None  # here
    return (w,)


@says("by an assignment to .grad at {here}, maybe in its post-accumulate-grad hook")
def dropped_by_a_hook():
    w = leaf()

    def drop(parameter):
        parameter.grad = None  # here

    w.register_post_accumulate_grad_hook(drop)
    (w * 2).sum().backward()
    return (w,)


@says("one of torch.autograd.grad(), which returns the gradients")
def asked_by_grad():
    w = leaf()
    torch.autograd.grad((w * 2).sum(), w)
    return (w,)


@says("The last backward pass at {here} was asked for the gradients of other tensors only")
def left_out_of_inputs():
    a, b = leaf(), leaf()
    (a * b).sum().backward(inputs=[a])  # here
    return b, a


class GivesNone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return None


@says(
    "GivesNoneBackward at {here} received a gradient and gave None", "Return a gradient for every"
)
def function_that_returns_none():
    w = leaf()
    y = GivesNone.apply(w)  # here
    y.sum().backward()
    return (w,)


@says("It is a copy, made by copy.deepcopy() at {here}", "No operator has used it inside watch()")
def deep_copy():
    w = leaf()
    other = copy.deepcopy(w)  # here
    (w * 2).sum().backward()
    return other, w


@says(
    "SGD has it, but no layer does: it was replaced by another parameter. Make the optimizer anew"
)
def replaced_in_its_layer():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters())
    old = model.weight
    model.weight = nn.Parameter(torch.ones(1, 2))
    model(torch.ones(1, 2)).sum().backward()
    return old, model, optimizer


@says("SGD has other parameters of Linear, but not this one: make the optimizer after the layers")
def unknown_to_the_optimizer():
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters())
    model.weight = nn.Parameter(torch.ones(1, 2))
    model(torch.ones(1, 2)).sum().backward()
    return model.weight, model, optimizer


class ListOfLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers, self.head = [nn.Linear(2, 2)], nn.Linear(2, 1)

    def forward(self, x):
        return self.head(self.layers[0](x))


@says(
    "ListOfLayers.layers is a list, of which ListOfLayers does not know", "Make it an nn.ModuleLi"
)
def layers_in_a_list():
    model = ListOfLayers()
    optimizer = torch.optim.SGD(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    return model.layers[0].weight, model, optimizer


# --- gradients of zeros, and others ---------------------------------------------------------------


@says(
    "ReluBackward0 at {here} received a gradient that is not zero", "all that goes in is negative"
)
def dead_relu():
    w = leaf(value=-1.0)
    torch.relu(w * 2).sum().backward()  # here
    return (w,)


@says(
    "SigmoidBackward0 at {here}",
    "so large that its slope is zero",
    "its result: [3] float32, all 1",
)
def saturated_sigmoid():
    w = leaf(value=200.0)
    torch.sigmoid(w * 2).sum().backward()  # here
    return (w,)


@says("SoftmaxBackward0 at {here}", "its sum, which is always 1")
def sum_of_softmax():
    w = leaf()
    torch.softmax(w, 0).sum().backward()  # here
    return (w,)


@says(
    "at {here} received a gradient",
    "all that goes in is outside of the limits",
    "[3] float32, all 5",
)
def clamped():
    w = leaf(value=5.0)
    torch.clamp(w, 0, 1).sum().backward()  # here
    return (w,)


@says("RoundBackward0 at {here}", "derivative is zero everywhere")
def rounded():
    w = leaf()
    torch.round(w).sum().backward()  # here
    return (w,)


@says("SubBackward0 at {here} sent gradients that cancel each other: their sum is zero")
def cancelled():
    w = leaf()
    (w - w).sum().backward()  # here
    return (w,)


@says("MulBackward0 at {here} sent a gradient that is not zero: a hook has made zeros of it")
def zeroed_by_a_hook_of_the_leaf():
    w = leaf()
    w.register_hook(lambda g: g * 0)
    (w * 2).sum().backward()  # here
    return (w,)


@says("SumBackward0 at {here} sent a gradient that is not zero: a hook has made zeros of it")
def zeroed_by_a_hook_on_the_way():
    w = leaf()
    hidden = w * 2
    hidden.register_hook(torch.zeros_like)
    hidden.sum().backward()  # here
    return (w,)


class GivesZeros(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 0


@says("GivesZerosBackward at {here}", "its backward() returns zeros")
def function_that_returns_zeros():
    w = leaf()
    GivesZeros.apply(w).sum().backward()  # here
    return (w,)


@says("MulBackward0 at {here}", "what it multiplies with is zero", "other: [3] float32, all 0")
def multiplied_by_zero():
    w = leaf()
    (w * torch.zeros(3)).sum().backward()  # here
    return (w,)


@says("WhereBackward0 at {here}", "the other side was chosen everywhere")
def not_chosen_by_where():
    w = leaf()
    torch.where(torch.zeros(3, dtype=torch.bool), w, torch.zeros(3)).sum().backward()  # here
    return (w,)


@says("FillBackward2 at {here}", "it overwrote what was computed before")
def overwritten_in_place():
    w = leaf()
    hidden = w * 2
    hidden.fill_(1.0)  # here
    (hidden * hidden).sum().backward()
    return (w,)


@says("at {here} received", "it overwrote what was computed before")
def overwritten_by_index():
    w = leaf()
    hidden = w * 2
    hidden[:] = 5.0  # here
    (hidden * hidden).sum().backward()
    return (w,)


@says("was not zero: it was reset by zero_() at {here}")
def reset_to_zeros():
    w = leaf()
    (w * 2).sum().backward()
    torch.optim.SGD([w]).zero_grad(set_to_none=False)  # here
    return (w,)


@says("Nothing but zeros reached it in the backward pass at {here}")
def begun_with_zeros():
    w = leaf()
    (w * 2).backward(torch.zeros(3))  # here
    return (w,)


@says("The first nan of that backward pass was made by SqrtBackward0 at {here}")
def not_a_number():
    w = leaf(value=0.0)
    (w.sqrt() * 0).sum().backward()  # here
    return (w,)


@says("Its .grad is [3] float32, all 2.")
def all_is_well():
    w = leaf()
    (w * 2).sum().backward()
    return (w,)


# --- graphs --------------------------------------------------------------------------------------


@says("What its node kept was freed by a backward pass at {here}: call that with retain_graph=True")
def graph_that_was_freed():
    w = leaf()
    y = w.exp()
    y.sum().backward()  # here
    return y, w


@says("What ExpBackward0 before it kept was freed by a backward pass at {here}")
def graph_of_which_a_part_was_freed():
    w = leaf()
    hidden = w.exp()
    hidden.sum().backward()  # here
    return hidden + 1, w


@says(
    "Its graph of 2 nodes keeps 4,000 bytes for a backward pass, held by x in ", "_alive[1][1] in "
)
def graph_in_a_list():
    w = leaf(1000)
    losses = [w.exp().sum() for _ in range(2)]
    return losses[1], w, losses
