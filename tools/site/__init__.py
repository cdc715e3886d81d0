"""The site: pages of `docs`, and a reference that is made of the docstrings while it is built.

python -m mkdocs build --strict      the site, in the folder `site`
python -m mkdocs serve               the same in a browser, anew with each change

mkdocs reads `mkdocs.yml`, which names `hooks.py` of this folder. The reference asks the names
themselves, loaded, for their docstrings: operators are declared by decorators and come on demand,
so that a reader of source text alone would not find them.
"""
