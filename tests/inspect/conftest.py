"""Fixtures: pages of graphs in a browser."""

import pytest

from tests.inspect import chromium


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    driver = chromium.start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of a graph; in the end, it has neither complained nor asked for anything."""
    pages = []

    def open_(drawn):
        path = tmp_path / "graph.html"
        drawn.save(path)
        pages.append(chromium.Page(browser, path))
        return pages[-1]

    yield open_
    for page in pages[-1:]:
        assert page.complaints() == []
