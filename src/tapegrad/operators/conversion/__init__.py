"""Tensors to other dtypes and out to Python; questions about tensors."""
