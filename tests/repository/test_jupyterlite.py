"""The course in JupyterLite: its files are whole, and the wheel is where they look for it."""

import json

from tapegrad import version
from tests import needs
from tools import jupyterlite, notebooks


def test_the_notebooks_and_the_wheel_are_in_it(tmp_path):
    needs.package("jupyterlite_core", "builds the site")
    needs.package("jupyterlite_pyodide_kernel", "runs Python in it")
    assert jupyterlite.main([str(tmp_path)]) == 0
    names = {f"{page.stem}.ipynb" for page in notebooks.pages()}
    for folder in (tmp_path / "files", tmp_path / "files" / "answers"):
        assert {path.name for path in folder.glob("*.ipynb")} == names
    last = json.loads((tmp_path / "files" / "10-training.ipynb").read_text(encoding="utf-8"))
    assert last["cells"][0] == jupyterlite.INSTALL
    index = json.loads((tmp_path / "pypi" / "all.json").read_text(encoding="utf-8"))
    (release,) = index["tapegrad"]["releases"][version.tapegrad]
    assert (tmp_path / "pypi" / release["filename"]).stat().st_size == release["size"]
    settings = json.loads((tmp_path / "jupyter-lite.json").read_text(encoding="utf-8"))
    (kernel,) = settings["jupyter-config-data"]["litePluginSettings"].values()
    assert any(url.startswith("./pypi/all.json") for url in kernel["pipliteUrls"])


def test_it_says_how_it_is_called(capsys):
    assert jupyterlite.main([]) == 2
    assert "python -m tools.jupyterlite FOLDER" in capsys.readouterr().err
