"""The version of tapegrad, and of the PyTorch whose behaviour it has."""

__version__ = "0.2.0"
tapegrad = __version__
pytorch = "2.13.0"
cuda = None
hip = None
debug = False
git_version = None
rocm = None
xpu = None
