"""Who calls a function: call sites, functions handed on as values, callbacks of Keras."""
