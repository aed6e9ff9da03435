"""A folder for the files of a project, of which nothing is remembered afterwards."""

import pytest

from tfnanlint.project import index as project


@pytest.fixture
def folder(tmp_path):
    project.forget()
    yield tmp_path
    for path in list(project._shown):
        project.show(path, None)
    project.forget()
