"""What NumPy arrays are computed with: the namespace of the CPU, and its kernels by family."""
