"""How data-parallel training scales, on paper: recorded steps under models of networks."""
