"""What the name of a file, a folder or a distribution says of its content."""

from __future__ import annotations

import os
import re
from typing import Final

_TEST_FILE: Final = r"test_.*|.*_tests?|.*_?test_?utils|conftest"
_TEST_PATH: Final = r"(?:^|[/\\_])tests?(?:[/\\_.]|$)"
_PUT_AWAY: Final = (
    r"(?:.*[/_.-])?(?:trash|backups?|bak|deprecated|obsolete|unused|archived?|attic)"
    r"(?:[/_.-].*)?/[^/]*"
)
_UNTRAINED_FOLDER: Final = (
    r"(?:.*/)?(?:metrics?|samplers|mcmc|data_preparation|preprocessing)/[^/]*"
)
_REQUIREMENTS: Final = (
    r"(?i).*requirements?.*\.txt|environment.*\.ya?ml|setup\.(?:py|cfg)|pyproject\.toml|pipfile"
)
_PASSED_FOLDERS: Final = frozenset("node_modules build dist venv site-packages __pycache__".split())
_DISTRIBUTIONS: Final = frozenset(
    "numpy tensorflow keras tf_keras scipy pandas sklearn matplotlib absl tensorflow_probability "
    "tensorflow_datasets torch jax".split()
)
# Modules of Python and small distributions, besides, that programs import nearly always.
FOREIGN: Final = _DISTRIBUTIONS | frozenset(
    "math os sys typing abc collections functools gin six".split()
)
# Of those that programs import beside TensorFlow: they work on numbers, files and pictures.
_ON_NUMBERS: Final = frozenset(
    "tensorflow keras tf_keras keras_preprocessing keras_applications tensorflow_datasets "
    "tensorflow_hub tensorflow_io tensorboard numpy scipy pandas sklearn matplotlib mpl_toolkits "
    "pylab seaborn plotly bokeh cv2 PIL skimage imageio scikitplot h5py joblib dill tqdm yaml "
    "absl six future gym requests urllib3 flask nltk gensim jieba spacy librosa soundfile pydub "
    "networkx statsmodels numba tabulate termcolor psutil IPython ipywidgets google mlxtend "
    "sympy xarray netCDF4 tables lxml bs4 attr click easydict prettytable pydot graphviz "
    "progressbar colorama simplejson ujson msgpack boto3 pymongo redis imutils wandb nibabel "
    "SimpleITK pydicom pyprind cPickle urllib2 ConfigParser Queue StringIO".split()
)


def takes_no_gradient(module: str) -> bool:
    """Whether a distribution takes no gradients of what a program hands it: `pandas`, `cv2`."""
    return module in _ON_NUMBERS


def holds_tests(path: str) -> bool:
    """Whether a file has the name of one with tests: they look at values, and run on numbers that
    are written in them.
    """
    return re.fullmatch(_TEST_FILE, os.path.splitext(os.path.basename(path))[0]) is not None


def is_below_tests(path: str) -> bool:
    """Whether a file or a folder on its path is named for tests: nothing there is trained long."""
    return re.search(_TEST_PATH, path) is not None


def is_put_away(path: str) -> bool:
    """Whether a file stands in a folder for what is no longer used: `trash/`, `src/backup_2/`."""
    return re.fullmatch(_PUT_AWAY, path.replace(os.sep, "/")) is not None


def is_apart_from_training(path: str) -> bool:
    """Whether a file stands in a folder for what is not trained: `metrics/`, `preprocessing/`."""
    return re.fullmatch(_UNTRAINED_FOLDER, path.replace(os.sep, "/")) is not None


def is_passed_over(folder: str) -> bool:
    """Whether no files of the project are looked for in a folder: hidden, built or installed."""
    return folder.startswith(".") or folder in _PASSED_FOLDERS


def lists_requirements(name: str) -> bool:
    """Whether a file lists what a program needs: `requirements.txt`, `environment.yml`."""
    return re.fullmatch(_REQUIREMENTS, name) is not None


def is_readme(name: str) -> bool:
    """Whether a file introduces a project: `README.md`."""
    return name.lower().partition(".")[0] == "readme"


def is_foreign(module: str) -> bool:
    """Whether a module is never part of the project, whatever lies beside it: `os`, `numpy`."""
    return module in FOREIGN


def is_known_distribution(module: str) -> bool:
    """Whether a module is one of a well-known distribution: `numpy`, `torch`."""
    return module in _DISTRIBUTIONS
