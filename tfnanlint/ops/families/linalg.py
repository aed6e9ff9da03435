"""Linear algebra: factorisations, determinants, inverses, solutions, spectra."""

from __future__ import annotations

from typing import Final

from tfnanlint.ops.families.reductions import total
from tfnanlint.ops.site import Site
from tfnanlint.ops.table import op
from tfnanlint.ops.transfer import core as t
from tfnanlint.ops.transfer.core import INF, Value

SINGULAR: Final = "infinite where the matrix is singular"


def _matrix(site: Site, nan: bool = False, inf: bool = False) -> Value:
    """Any numbers, in the dtype of the matrix; what is not finite spreads."""
    x = site.value(site.op.main)
    return Value(nan=nan or x.nan or x.inf, inf=inf or x.inf, dtype=x.dtype, evident=x.evident)


def _determinant(site: Site) -> Value:
    """A sum of products of as many elements as the matrix has rows."""
    x = site.value("x")
    reach = max(abs(x.lo), abs(x.hi))
    overflows = 1 < reach < INF and reach > t.limits_of(x.dtype).max ** 0.25
    return _matrix(site, nan=overflows, inf=overflows)


def _inverse(site: Site) -> Value:
    """A singular matrix raises eagerly on the CPU; on other devices, or nearly singular, it gives
    Inf and NaN.
    """
    return _matrix(site, inf=True, nan=True)


def _cholesky(site: Site) -> Value:
    """NaN and whatever was in memory, without an error, where the matrix is not positive definite
    (facts: A4.cholesky).
    """
    return _matrix(site, nan=True, inf=True)


def _values_and_vectors(site: Site) -> Value:
    x = site.value("x")
    values = Value(nan=x.nan or x.inf, dtype=x.dtype)
    return t.several(values, _unit(site))


def _unit(site: Site) -> Value:
    """Entries of orthonormal vectors."""
    x = site.value("x")
    lo, hi = t.outward(-1.0, 1.0, x.dtype, 64)
    return Value(lo, hi, nan=x.nan or x.inf, dtype=x.dtype)


def _svd(site: Site) -> Value:
    """Singular values, u, v; only the values with compute_uv=False."""
    x = site.value("x")
    values = Value(0.0, INF, nan=x.nan or x.inf, dtype=x.dtype)
    if site.const("compute_uv", True) is False:
        return values
    if site.name.startswith(("np.", "ops.")):
        return t.several(_unit(site), values, _unit(site))
    return t.several(values, _unit(site), _unit(site))


def _qr(site: Site) -> Value:
    return t.several(_unit(site), _matrix(site))


def _slogdet(site: Site) -> Value:
    x = site.value("x")
    sign = Value(-1.0, 1.0, nan=x.nan or x.inf, dtype=x.dtype)
    return t.several(sign, Value(nan=x.nan or x.inf, inf=True, dtype=x.dtype))


op(
    "tf.linalg.cholesky",
    "tf.cholesky ops.cholesky ops.linalg.cholesky np.linalg.cholesky raw.Cholesky",
    "x name",
    _cholesky,
    needs={"x": "positive definite"},
    gradient=SINGULAR,
    masked="all",
    reference="tf.linalg.cholesky(hankel(x))",
)
op(
    "tf.linalg.det",
    "tf.matrix_determinant ops.det ops.linalg.det np.linalg.det raw.MatrixDeterminant",
    "x name",
    _determinant,
    gradient=SINGULAR,
    masked="all",
    reference="tf.linalg.det(hankel(x))",
)
op(
    "tf.linalg.logdet",
    "ops.logdet",
    "x name",
    _cholesky,
    needs={"x": "positive definite"},
    gradient=SINGULAR,
    masked="all",
    untested="tf.linalg.cholesky and tf.math.log are tested",
)
op(
    "tf.linalg.slogdet",
    "ops.slogdet np.linalg.slogdet",
    "x name",
    _slogdet,
    needs={"x": "not singular"},
    gradient=SINGULAR,
    masked="all",
    untested="returns a pair",
)
op(
    "tf.linalg.inv",
    "tf.matrix_inverse ops.inv ops.linalg.inv np.linalg.inv raw.MatrixInverse",
    "x adjoint name",
    _inverse,
    needs={"x": "not singular"},
    gradient=SINGULAR,
    masked="all",
    untested="raises for a singular matrix in the batch",
)
op(
    "tf.linalg.pinv",
    "np.linalg.pinv ops.pinv",
    "x rcond name",
    _matrix,
    untested="as accurate as its cutoff",
)
op(
    "tf.linalg.solve",
    "tf.matrix_solve ops.solve ops.linalg.solve np.linalg.solve raw.MatrixSolve",
    "x rhs adjoint name",
    _inverse,
    needs={"x": "not singular"},
    gradient=SINGULAR,
    masked="all",
    untested="tf.linalg.inv is tested",
)
op(
    "tf.linalg.triangular_solve",
    "tf.matrix_triangular_solve ops.solve_triangular ops.linalg.solve_triangular",
    "x rhs lower adjoint name",
    _inverse,
    needs={"x": "not singular"},
    gradient=SINGULAR,
    masked="all",
    untested="tf.linalg.inv is tested",
)
op(
    "tf.linalg.cholesky_solve",
    "tf.cholesky_solve",
    "x rhs name",
    _inverse,
    untested="tf.linalg.inv is tested",
)
op("tf.linalg.lu_solve", "", "x perm rhs", _inverse, untested="tf.linalg.inv is tested")
op(
    "tf.linalg.lstsq",
    "tf.matrix_solve_ls np.linalg.lstsq ops.lstsq",
    "x rhs l2_regularizer fast name",
    _inverse,
    gradient=SINGULAR,
    untested="tf.linalg.inv is tested",
)
op(
    "tf.linalg.lu",
    "ops.lu_factor",
    "x name",
    lambda site: t.several(_matrix(site), Value(0.0, INF, dtype="int32")),
    untested="returns a pair",
)
op(
    "tf.linalg.svd",
    "tf.svd tf.batch_svd ops.svd ops.linalg.svd np.linalg.svd",
    "x full_matrices compute_uv name",
    _svd,
    untested="returns a triple",
    gradient="",
)
op(
    "tf.linalg.eigh",
    "tf.self_adjoint_eig ops.eigh ops.linalg.eigh np.linalg.eigh",
    "x name",
    _values_and_vectors,
    untested="returns a pair",
)
op(
    "tf.linalg.eigvalsh",
    "tf.self_adjoint_eigvals np.linalg.eigvalsh",
    "x name",
    _matrix,
    untested="the kernel raises for NaN and Inf",
)
op(
    "tf.linalg.eig",
    "ops.eig np.linalg.eig tf.eig",
    "x name",
    lambda site: t.several(_matrix(site), _matrix(site)),
    untested="complex",
)
op("tf.linalg.eigvals", "np.linalg.eigvals tf.eigvals", "x name", _matrix, untested="complex")
op(
    "tf.linalg.qr",
    "tf.qr ops.qr ops.linalg.qr np.linalg.qr",
    "x full_matrices name",
    _qr,
    untested="returns a pair",
)
op(
    "tf.linalg.trace",
    "tf.trace ops.trace np.trace tnp.trace",
    "x name",
    lambda site: total(site.value("x")),
    reference="tf.linalg.trace(hankel(x))",
    promotes="wider",
)
op(
    "tf.linalg.expm",
    "",
    "x name",
    lambda site: _matrix(site, inf=True),
    untested="exp is tested; it overflows as exp does",
)
op(
    "tf.linalg.logm",
    "np.linalg.matrix_power",
    "x name",
    _inverse,
    needs={"x": "not singular"},
    gradient=SINGULAR,
    untested="complex, or raises",
)
op(
    "tf.linalg.sqrtm",
    "",
    "x name",
    lambda site: _matrix(site, nan=True),
    needs={"x": "without negative eigenvalues"},
    gradient=SINGULAR,
    untested="NaN where a real matrix has no real root",
)
op(
    "tf.linalg.cross",
    "tf.cross ops.cross np.cross tnp.cross",
    "x y name",
    lambda site: t.subtract(
        t.multiply(site.value("x"), site.value("y")), t.multiply(site.value("x"), site.value("y"))
    ),
    untested="needs vectors of three; tf.multiply and tf.subtract are tested",
)
op(
    "tf.linalg.matrix_rank",
    "np.linalg.matrix_rank ops.matrix_rank",
    "x tol",
    t.ranged(0.0, INF, dtype="int32"),
    untested="an integer",
)
op(
    "tf.linalg.tridiagonal_solve",
    "tf.linalg.banded_triangular_solve",
    "x rhs",
    _inverse,
    untested="tf.linalg.inv is tested",
)
