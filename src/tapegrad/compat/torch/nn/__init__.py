"""Modules below `torch.nn` that only old code asks for."""
