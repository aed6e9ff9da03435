"""The version of tfnanlint, for those who may not import the rest of the package."""

__version__ = "0.1.0"
