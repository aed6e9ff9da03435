"""The files of a project: which file an import names, who imports whom, settings."""
