"""What the analysis reveals covers what TensorFlow computes, on random programs. The long run is
benchmarks/soundness.py.
"""

from __future__ import annotations

import pytest
from random_programs import Generator, references
from trials import Trial, samples, vectors


@pytest.fixture
def functions_as_graphs_again():
    """What `vectors` sets for the whole process would hold in the tests that follow."""
    yield
    import tensorflow as tf

    tf.config.run_functions_eagerly(False)


@pytest.mark.tensorflow
@pytest.mark.usefixtures("functions_as_graphs_again")
@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    rows, trial = references(), Trial()
    assert len(rows) > 100
    for seed in range(block * 50, block * 50 + 50):
        text = Generator(seed, rows, samples()).program()
        assert not trial.violations(text, vectors(seed))
    assert trial.counts["known"] > 0.5 * trial.counts["places"] and trial.counts["places"] > 500
