"""Elementary functions in C that compilers vectorise: `tg_exp_f32`, `tg_tanh_f64`, ...

The text is `vector_math.h`; what each function is off by stands there, and is measured in its test.
"""

from pathlib import Path

from tapegrad.compiler.c_backend.c_text import Library

LIBRARY = Library((Path(__file__).parent / "vector_math.h").read_text(encoding="utf-8"))
"""`LIBRARY.source(["tg_tanh_f32"])` is the text of a function and of what it needs."""
