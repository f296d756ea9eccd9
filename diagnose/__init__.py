"""pi-diagnose: says which layer of a Pi session lost the fact. The Python API is private."""

# Read by pyproject.toml too: to ask the installed metadata for it takes 30 ms.
__version__ = "0.1.0"
