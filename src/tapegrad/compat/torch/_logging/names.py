"""The names of PyTorch's loggers and of the kinds of their messages."""

LOGGERS: dict[str, tuple[str, ...]] = {
    "aot": ("torch._functorch.aot_autograd", "torch._functorch._aot_autograd"),
    "async_compile": (
        "torch._inductor.async_compile",
        "torch._inductor.compile_worker.tracked_process_pool",
    ),
    "autograd": ("torch.autograd",),
    "c10d": ("torch.distributed.distributed_c10d", "torch.distributed.rendezvous"),
    "cache": ("torch._inductor.remote_cache", "torch._inductor.fb.remote_cache"),
    "ddp": ("torch.nn.parallel.distributed", "torch._dynamo.backends.distributed"),
    "distributed": (
        "torch.distributed",
        "torch._dynamo.backends.distributed",
        "torch.nn.parallel.distributed",
    ),
    "dtensor": ("torch.distributed._tensor", "torch.distributed.tensor"),
    "dynamic": (
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.experimental.sym_node",
        "torch.fx.experimental.recording",
    ),
    "dynamo": (
        "torch._dynamo",
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.experimental.sym_node",
        "torch.fx.experimental.recording",
    ),
    "export": (
        "torch._dynamo",
        "torch.export",
        "torch.export.dynamic_shapes",
        "torch.fx.experimental.symbolic_shapes",
        "torch.fx.experimental.sym_node",
        "torch.fx.experimental.recording",
        "torch._export.converter",
        "torch._export.non_strict_utils",
        "torch._export.serde.serialize",
        "torch.fx.experimental.proxy_tensor",
    ),
    "fake_tensor": ("torch._subclasses.fake_tensor",),
    "fsdp": ("torch.distributed.fsdp", "torch.distributed._composable.fsdp"),
    "inductor": ("torch._inductor", "torch._inductor.cudagraph_trees"),
    "native_dsl": ("torch._native",),
    "onnx": ("torch.onnx",),
    "pp": ("torch.distributed.pipelining",),
    "torch": ("torch",),
}

ARTIFACTS = frozenset(
    """
    annotation aot_graphs aot_graphs_effects aot_joint_graph auto_chunker autotuning
    benchmarking bytecode caching compiled_autograd compiled_autograd_verbose
    compute_dependencies cudagraph_static_inputs cudagraphs ddp_graphs fusion graph
    graph_breaks graph_code graph_code_verbose graph_region_expansion graph_sizes guards
    hierarchical_compile incremental inductor_metrics ir_post_fusion ir_pre_fusion
    kernel_code loop_ordering loop_tiling node_runtime_estimation not_implemented
    onnx_diagnostics output_code overlap overlap_scheduling perf_hints post_grad_graphs
    pre_grad_graphs recompiles recompiles_verbose schedule side_effects sym_node
    trace_bytecode trace_call trace_shape_events trace_source verbose_guards
    """.split()
)
