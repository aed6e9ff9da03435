"""Signals: transforms, windows and the frames that they are laid over."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.values.value import Value, join, outward

_HAMMING: Final = 0.08  # 0.54 - 0.46


def _framed(site: Site) -> Value:
    """Parts of a signal, the last one filled up if that is asked for."""
    x = t.passes("x")(site)
    if not site.given("pad_end") or site.const("pad_end", None) is False:
        return x
    filling = site.value("pad_value") if site.given("pad_value") else Value(0.0, 0.0, dtype=x.dtype)
    return join([x, filling]).but(kind=x.kind, dtype=x.dtype, const=t.NO_CONSTANT)


def _dtype(site: Site) -> str | None:
    """That which is asked for; float32 where none is."""
    if not site.given("dtype"):
        return "float32"
    asked = site.value("dtype")
    return asked.const if asked.kind == "dtype" else None


def _shares(site: Site) -> Value:
    """What a filter or a window leaves of a number, but for rounding."""
    dtype = _dtype(site)
    lo, hi = outward(0.0, 1.0, dtype, 16)
    return Value(0.0, hi, dtype=dtype)


def _hamming(site: Site) -> Value:
    dtype = _dtype(site)
    lo, hi = outward(_HAMMING, 1.0, dtype, 64)
    return Value(lo, hi, dtype=dtype)


op(
    "tf.signal.stft",
    "tf.contrib.signal.stft",
    "x frame_length frame_step fft_length window_fn pad_end name",
    lambda site: Value(dtype="complex64"),
    untested="complex",
)
op(
    "tf.signal.fft",
    "tf.fft tf.spectral.fft tf.signal.rfft tf.spectral.rfft tf.signal.fft2d tf.fft2d"
    " tf.signal.rfft2d tf.signal.ifft tf.ifft",
    "x fft_length name",
    lambda site: Value(dtype="complex64"),
    untested="complex",
)
op(
    "tf.signal.frame",
    "tf.contrib.signal.frame",
    "x frame_length frame_step pad_end pad_value axis name",
    _framed,
    main="x",
    untested="takes lengths; tests/ops/families/test_arrays.py",
)
op(
    "tf.signal.linear_to_mel_weight_matrix",
    "tf.contrib.signal.linear_to_mel_weight_matrix",
    "num_mel_bins num_spectrogram_bins sample_rate lower_edge_hertz upper_edge_hertz dtype name",
    _shares,
    untested="takes numbers of bins; tests/ops/families/test_arrays.py",
)
op(
    "tf.signal.hann_window",
    "tf.contrib.signal.hann_window",
    "window_length periodic dtype name",
    _shares,
    untested="takes a length; tests/ops/families/test_arrays.py",
)
op(
    "tf.signal.vorbis_window",
    "",
    "window_length dtype name",
    _shares,
    untested="takes a length; tests/ops/families/test_arrays.py",
)
op(
    "tf.signal.kaiser_window",
    "",
    "window_length beta dtype name",
    _shares,
    untested="takes a length; tests/ops/families/test_arrays.py",
)
op(
    "tf.signal.hamming_window",
    "tf.contrib.signal.hamming_window",
    "window_length periodic dtype name",
    _hamming,
    untested="takes a length; tests/ops/families/test_arrays.py",
)
