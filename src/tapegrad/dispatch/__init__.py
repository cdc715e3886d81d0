"""Operators as declared, and the calls of them: computed and recorded."""
