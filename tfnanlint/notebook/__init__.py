"""Jupyter notebooks: the document, its code cells as one source, and IPython magics."""
