"""The array namespace of the CPU, and its kernels by family."""
