"""What programs import from the insides of torch.fx."""
