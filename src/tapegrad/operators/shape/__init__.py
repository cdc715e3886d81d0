"""Operators that change the shape: views, joins, splits, triangles."""
