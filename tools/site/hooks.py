"""What mkdocs is told while it builds: the pages of the reference, and links out of `docs`."""

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.structure.files import File

from tools import notebooks
from tools.playground import write as write_playground
from tools.site import entry, names, playground

LINK = re.compile(r"(?<=\]\()(?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")


def on_config(config):
    """The pages of the reference take their place in the navigation."""
    config.extra["pages"] = pages = names.pages()
    (reference,) = (part["Reference"] for part in config.nav if "Reference" in part)
    modules = {}
    for page in pages:
        modules.setdefault(page.module, []).append({page.title: page.path})
    if (Path(config.docs_dir) / playground.PLACE).exists():
        config.nav.insert(2, {"Playground": playground.PLACE})
    reference.insert(0, "reference/index.md")
    reference += [one[0] if len(one) == 1 else {name: one} for name, one in modules.items()]
    return config


def on_files(files, config):
    """The pages of the reference and the notebooks of the course, as if they were in `docs`."""
    pages = config.extra["pages"]
    homes = {each.name: page.path for page in pages for each in page.entries}
    files.append(File.generated(config, "reference/index.md", content=entry.overview(pages)))
    for page in pages:
        content = entry.text(page, homes, _source(config))
        files.append(File.generated(config, page.path, content=content))
    for page in notebooks.pages():
        for folder, answers in (("learn", False), ("learn/answers", True)):
            name, content = f"{folder}/{page.stem}.ipynb", notebooks.written(page, answers)
            files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files outside of `docs` lead to the repository, those from its root into it."""

    name = PurePosixPath(page.file.src_uri)

    def target(match):
        path, anchor = match["path"], match["anchor"] or ""
        if path.startswith("/"):
            return os.path.relpath(path[1:], name.parent) + anchor
        file = (Path(config.docs_dir) / name).parent / path
        inside = os.path.normpath(file)
        if Path(inside).is_relative_to(config.docs_dir):
            return match[0]
        return f"{_source(config)}/{os.path.relpath(inside, Path(config.docs_dir).parent)}{anchor}"

    if Path(page.file.abs_src_path or "") in notebooks.pages():
        heading, _, rest = markdown.partition("\n")
        forms = f"[Notebook]({name.stem}.ipynb) · [with answers](answers/{name.stem}.ipynb)"
        if files.get_file_from_path(playground.PLACE):
            address = playground.link(Path(page.file.abs_src_path))
            forms = f"[Run it in the browser](/{address}) · {forms}"
        markdown = f"{heading}\n\n{forms}\n{{ .forms }}\n{rest}"
    return LINK.sub(target, markdown)


def on_post_build(config):
    """The wheel that the playground loads stands beside it."""
    write_playground(Path(config.site_dir) / "playground")


def _source(config):
    return f"{config.repo_url.rstrip('/')}/blob/main"
