"""Batched arrays, whose first axis is hidden from the function that `vmap` maps."""
