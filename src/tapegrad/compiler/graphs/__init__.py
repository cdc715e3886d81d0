"""Graphs of the calls that a function makes, as `torch.fx` has them, for compilers of the user's.

`output_graph` records them while a call runs, `graph_compiled` gives them to a backend.
"""
