"""Files on disk: discovery, safe writing, the store of results."""
