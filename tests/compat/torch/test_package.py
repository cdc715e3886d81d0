"""torch.package, which is refused."""

import pytest

import tapegrad


def test_packages_of_source_are_refused_by_name():
    with pytest.raises(NotImplementedError, match=r"PackageExporter is not supported"):
        tapegrad.package.PackageExporter("file")
