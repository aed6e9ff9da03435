"""What the analysis reveals covers what TensorFlow computes, on random programs. The long run is benchmarks/soundness.py."""

from __future__ import annotations

import pytest
from soundness import Generator, references, violations


@pytest.mark.tensorflow
@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    np = pytest.importorskip("numpy")
    rows = references()
    assert len(rows) > 100
    for seed in range(block * 50, block * 50 + 50):
        text, names = Generator(seed, rows).program()
        assert not violations(text, names, vectors(np, seed))


def vectors(np, seed):
    """Pairs of vectors: ordinary, large, tiny and with exact zeros."""
    draw = np.random.default_rng(seed)
    ordinary = draw.normal(size=(2, 4)).astype("float32")
    return [ordinary, (ordinary * 200).astype("float32"), (ordinary * 1e-20).astype("float32"),
            np.where(draw.random((2, 4)) < 0.5, 0, ordinary).astype("float32")]
