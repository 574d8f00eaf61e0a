"""The version of what is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("forkpoint")
except PackageNotFoundError:  # a checkout that nobody installed
    __version__ = "0+unknown"

__all__ = ("__version__",)
