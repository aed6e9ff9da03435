"""Tools for people who work on tfnanlint itself; nothing on the lint path imports them."""
