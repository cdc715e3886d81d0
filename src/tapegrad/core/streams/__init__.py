"""Random numbers as PyTorch's CPU generator draws them, on NumPy arrays."""
