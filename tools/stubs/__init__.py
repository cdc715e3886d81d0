"""Type stubs (`.pyi`) of the public modules, for editors and type checkers.

    python -m tools.stubs            write them
    python -m tools.stubs --check    say which are not up to date; 1 if there are any

A native function has the forms in which PyTorch takes its arguments (`core/native_forms.bz2`) and
what its schemas say it returns (`library/aten_schemas.py`), one overload for each. Any other
function has the signature that Python sees, and where its annotation says less than is known,
`known.py` says the rest: a function of which nobody says what it returns is an error.
"""
