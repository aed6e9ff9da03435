"""The language server: `tfnanlint lsp`. The protocol runs in one process, the analysis in another.

`text` and `documents` keep what the editor shows, `worker` analyses it behind a pipe whose near end
is `analyst`, `sheets` decides what is analysed when, `answers` makes diagnostics, hovers and
actions of findings, `features` handles the client's messages, `server` keeps the connection.
"""
