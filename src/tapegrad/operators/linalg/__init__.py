"""Matrix products, decompositions, solvers and norms."""
