"""Settings of `torch.compile`: kept, without effect."""

from tapegrad.compat.torch._dynamo import config as dynamo
from tapegrad.compiler.settings_module import settings, table

_VALUES = table(
    off="force_cudagraph_gc force_disable_caches",
    none="job_id pgo_extra_read_key pgo_extra_write_key",
    cache_key_tag="",
    dynamic_sources="",
    dynamic_values="",
    unbacked_sources="",
)

_OF_DYNAMO = (
    "accumulated_recompile_limit allow_unspec_int_on_nn_module assume_static_by_default "
    "automatic_dynamic_shapes capture_dynamic_output_shape_ops capture_scalar_outputs "
    "dynamic_shapes enable_cpp_symbolic_shape_guards fail_on_recompile_limit_hit log_file_name "
    "recompile_limit reorderable_logging_functions skip_tensor_guards_with_matching_dict_tags "
    "verbose wrap_top_frame"
)
_ALIASES = {name: (dynamo, name) for name in _OF_DYNAMO.split()}

settings(__name__, "torch.compiler.config", _VALUES, _ALIASES)
