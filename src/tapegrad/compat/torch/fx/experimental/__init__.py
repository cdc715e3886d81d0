"""Parts of `torch.fx.experimental` that only programs written for PyTorch ask for."""
