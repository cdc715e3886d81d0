"""`torch.ao.pruning` by name."""

from tapegrad.compat.refusal import refusing as _refusing

__getattr__ = _refusing(
    __name__,
    "torch.nn.utils.prune sets weights to zero.",
    functions=(
        "fqn_to_module get_arg_info_from_tensor_fqn get_dynamic_sparse_quantized_mapping "
        "get_static_sparse_quantized_mapping module_to_fqn"
    ),
    classes=(
        "BaseScheduler BaseSparsifier CubicSL FakeSparsity LambdaSL NearlyDiagonalSparsifier "
        "WeightNormSparsifier"
    ),
)
