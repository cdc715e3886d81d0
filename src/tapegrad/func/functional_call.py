"""Modules as functions of their parameters."""

import functools

from tapegrad.core.annotations import Any, Callable, EdgeLike, ModuleLike
from tapegrad.core.errors import runtime_error
from tapegrad.operators.shape.cat_stack import stack


def functional_call(
    module: ModuleLike,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with other tensors in the place of its own, by dotted name.

    What is not named stays, unless `strict`, which wants all named. With `tie_weights` what the
    module has under two names is replaced under both. The module is afterwards as before.

    >>> layer = torch.nn.Linear(2, 1)
    >>> tensors = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    >>> torch.func.functional_call(layer, tensors, torch.tensor([[3.0, 4.0]]))
    tensor([[7.]])
    """
    from tapegrad.nn.utils.stateless import _functional_call

    options = {"tie_weights": tie_weights, "strict": strict}
    return _functional_call(module, parameter_and_buffer_dicts, args, kwargs, **options)


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of models of one kind, stacked by name, and their buffers.

    >>> models = [torch.nn.Linear(2, 1) for _ in range(3)]
    >>> parameters, buffers = torch.func.stack_module_state(models)
    >>> parameters["weight"].shape
    torch.Size([3, 1, 2])
    """
    if len(models) == 0:
        raise runtime_error(
            "stack_module_state: Expected at least one model, got 0.", "Pass a list of modules."
        )
    if len({model.training for model in models}) > 1:
        raise runtime_error(
            "stack_module_state: Expected all models to have the same training/eval mode.",
            "Call train() or eval() on each.",
        )
    if len({type(model) for model in models}) > 1:
        raise runtime_error(
            "stack_module_state: Expected all models to be of the same class.",
            "Models of different classes have different parameters.",
        )
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(tables: list[dict[str, Any]]) -> dict[str, Any]:
    found = {}
    for name, first in tables[0].items():
        tensors = [table[name] for table in tables]
        if any([x.requires_grad is not first.requires_grad for x in tensors]):
            raise runtime_error(
                f"Expected {name} from each model to have the same .requires_grad",
                "requires_grad_() sets it.",
            )
        found[name] = stack(tensors, 0).detach().requires_grad_(first.requires_grad)
    return found


def replace_all_batch_norm_modules_(root: EdgeLike) -> Any:
    """Let all batch norms of a module do without running statistics, in place; returns it.

    Running statistics are written by every call, which samples of a batch cannot do together.

    >>> model = torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(3))
    >>> model.running_mean is None, model.track_running_stats
    (True, False)
    """
    from tapegrad.nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """`func` itself: nothing here traces programs, for which writes would have to be taken out.

    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.ones(2))
    tensor([2., 2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise runtime_error(
            f"functionalize(f, remove='mutations'): received invalid argument for "
            f"remove={remove}. Valid options are:\n     remove='mutations': all inplace and "
            "out= operators will be removed from the program, and replaced with their "
            "out-of-place equivalents.\n     remove='mutations_and_views': In addition to the "
            "above, all aliasing operators {view} will be replaced with their non-aliasing "
            "counterparts, {view}_copy.\n",
            "Leave remove= away.",
        )

    @functools.wraps(func)
    def wrapper(*args: object, **kwargs: object) -> Any:
        return func(*args, **kwargs)

    return wrapper
