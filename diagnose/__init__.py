"""pi-diagnose: says which layer of a Pi session lost the fact. The Python API is private."""
