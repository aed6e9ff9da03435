"""A mask value that float16 cannot represent.

The largest float16 number is 65504. `-1e9` becomes `-inf`, and `(1 - mask) * -1e9` then is
`0 * -inf`, which is NaN, for exactly the entries that are not masked. Selected with `tf.where` it
is `-inf`: a fully masked row becomes NaN in the softmax. Under `mixed_float16` every Keras layer
computes in float16. bfloat16 has the range of float32 and does not overflow here.

See it:
    >>> open_entry = tf.constant(0.0, tf.float16)
    >>> float(open_entry * -1e9)
    nan

Bad:
    half = tf.cast(scores, tf.float16)
    weights = tf.nn.softmax(half + (1.0 - tf.cast(mask, half.dtype)) * -1e9)

Good:
    half = tf.cast(scores, tf.float16)
    weights = tf.nn.softmax(tf.where(tf.cast(mask, tf.bool), half, half.dtype.min))

In a Keras layer the dtype is only known when the program runs: it is reported where the file, or
the program that imports it, sets a policy with float16.

See also: https://github.com/keras-team/keras/pull/17571,
https://github.com/keras-team/keras/pull/21850, https://www.tensorflow.org/guide/mixed_precision
("float16 ... values above 65504 will overflow to infinity")
"""

from __future__ import annotations

import re

from tfnanlint.api import (
    INF,
    Certainty,
    Claim,
    Context,
    Finding,
    Iterator,
    Site,
    Value,
    ast,
    evidence,
    float16_masks,
    rule,
    texts,
    traits,
)

LARGEST = 65504.0
POLICIES = ("mixed_float16", "float16")


@rule(
    "TFN601",
    "mask-overflows-float16",
    on="file",
    words="float16",
    over="TFN506",
    fixes="representable lowest select",
)
def check(module: object, here: Context) -> Iterator[Finding]:
    rows = here.source.rows_where(texts.writes_large_number)
    for site in here.applications(rows, named(map(here.source.code_on, rows))):
        if site.op.name == "tf.where":
            yield from chosen(site, here)
        elif site.op.name in traits.LINEAR:
            yield from computed(site, here)


def named(lines: Iterator[str]) -> set[str]:
    """The names that are given such a number on some lines."""
    return {name for line in lines for name in texts.names_of_large_numbers(line)}


def computed(site: Site, here: Context) -> Iterator[Finding]:
    """mask * -1e9, x + -1e9."""
    for c, param in (("y", "x"), ("x", "y")):
        if not written_out(site, c):
            continue
        constant, x = as_written(site.value(c)), site.value(param)
        if (
            not too_large(constant)
            or x.kind == "number"
            or site.op.name == "tf.subtract"
            and c == "x"
        ):
            continue
        certainty = grade(site, x, here)
        if certainty is None:
            continue
        text = written(constant)
        if site.op.name == "tf.multiply" and x.zero:
            sign = "-inf" if constant.lo < 0 else "inf"
            yield here.finding(
                site,
                param,
                f"{text} is {sign} in float16, and 0 * {sign} is NaN: the result is NaN "
                "wherever the mask is 0",
                certainty,
                float16_masks.fixes_of(here, site, c, param),
            )
        elif site.op.name != "tf.multiply" and certainty is Certainty.MUST:
            yield here.finding(
                site, param, f"{text} is infinite in float16, and so is the sum", certainty
            )
        return


def written_out(site: Site, param: str) -> bool:
    """Whether an argument may be a constant: a number, a name, tf.constant."""
    node = site.args.get(param)
    return (
        not isinstance(node, (ast.BinOp, ast.Call))
        or isinstance(node, ast.Call)
        and site.may_be_made_by(param, "tf.constant")
    )


def as_written(constant: Value) -> Value:
    """The number that is written where a constant of float16 is made: the constant is infinite."""
    site = constant.origin
    is_made = isinstance(site, Site) and site.op.name == "tf.constant"
    if constant.dtype != "float16" or not is_made or not site.value("x").is_number:
        return constant
    return site.value("x")


def too_large(constant: Value) -> bool:
    """A Python number, or a constant of no dtype of its own, beyond what float16 can hold; infinity
    is meant as it is.
    """
    return (
        constant.exact
        and LARGEST < abs(constant.lo) < INF
        and (constant.kind == "number" or constant.dtype in (None, "float16"))
    )


def grade(site: Site, x: Value, here: Context) -> Certainty | None:
    """MUST in float16, MAY in a layer of a file that sets a float16 policy; None where nothing says
    float16.
    """
    if x.dtype is not None:
        return Certainty.MUST if x.dtype == "float16" else None
    if (
        site.op.name == "tf.where"
        or not here.numeric(x)
        or not evidence.from_mask(x)
        or here.policy() not in POLICIES
    ):
        return None
    return Certainty.MAY if here.inherits(site, "keras.") else None


def written(constant: Value) -> str:
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{constant.lo:g}")


def chosen(site: Site, here: Context) -> Iterator[Finding]:
    """tf.where(mask, x, -1e9) in float16."""
    for c, param in (("y", "x"), ("x", "y")):
        constant, x = as_written(site.value(c)), site.value(param)
        if (
            not site.given(c)
            or not too_large(constant)
            or grade(site, x, here) is None
            or constant.lo > 0
        ):
            continue
        node, kept = site.args.get(c), site.args.get(param)
        fixes = (
            here.rewrite(
                site,
                "{x}.dtype.min",
                node=node,
                x=here.text(kept),
                title="mask with the lowest number of the dtype",
                claim=Claim.EQUAL_WHERE_FINITE,
            )
            if node is not None and kept is not None and here.repeatable(kept)
            else []
        )
        yield here.finding(
            site,
            param,
            f"{written(constant)} is -inf in float16: a softmax makes NaN of a row in which "
            "everything is masked",
            Certainty.MAY,
            fixes,
        )
        return
