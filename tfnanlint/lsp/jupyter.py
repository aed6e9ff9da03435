"""What jupyter-lsp asks installed packages for: which language server they bring. It finds this by
an entry point.
"""

from __future__ import annotations

import sys
from typing import Any

# Jupyter starts it among the notebooks: a package `tfnanlint` that lies there is not imported.
_BOOT = "\n".join(
    (
        "import sys",
        "sys.path[:] = filter(None, sys.path)",
        "from tfnanlint.cli import main",
        "sys.exit(main())",
    )
)


def spec(manager: Any) -> dict[str, Any]:
    """How our server is started, in the form that `jupyter_lsp_spec_v1` asks for."""
    return {
        "tfnanlint": {
            "version": 2,
            "display_name": "tfnanlint",
            "argv": [sys.executable, "-c", _BOOT, "lsp"],
            "languages": ["python"],
            "mime_types": ["text/x-python", "text/x-ipython"],
            "requires_documents_on_disk": False,
        },
    }
