"""Source text and its tree: positions, spans and edits, traversal, access paths."""
