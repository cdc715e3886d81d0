"""The parts of torch.utils.benchmark, under PyTorch's file names."""
