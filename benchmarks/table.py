"""Every row, by name, in the order they are printed."""

import bench_anomaly
import bench_chain
import bench_compile
import bench_compile_convolution
import bench_compile_derivatives
import bench_compile_latency
import bench_compile_training
import bench_convolution
import bench_elementwise
import bench_embedding
import bench_engines
import bench_forward
import bench_forward_mode
import bench_function
import bench_gpt
import bench_import
import bench_jacobian
import bench_leaves
import bench_loader
import bench_logits
import bench_million
import bench_network
import bench_normalization
import bench_per_sample
import bench_pooling
import bench_profiler
import bench_random
import bench_reduction
import bench_small_images
import bench_training

MODULES = (
    bench_chain,
    bench_network,
    bench_forward,
    bench_forward_mode,
    bench_leaves,
    bench_function,
    bench_million,
    bench_import,
    bench_elementwise,
    bench_convolution,
    bench_pooling,
    bench_reduction,
    bench_random,
    bench_embedding,
    bench_logits,
    bench_normalization,
    bench_loader,
    bench_anomaly,
    bench_profiler,
    bench_training,
    bench_small_images,
    bench_jacobian,
    bench_per_sample,
    bench_engines,
    bench_gpt,
    bench_compile,
    bench_compile_derivatives,
    bench_compile_training,
    bench_compile_convolution,
    bench_compile_latency,
)
ROWS = {row.name: row for module in MODULES for row in module.ROWS}
