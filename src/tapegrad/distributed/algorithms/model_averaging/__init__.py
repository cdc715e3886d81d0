"""Models whose parameters, not gradients, are averaged over ranks now and then."""
