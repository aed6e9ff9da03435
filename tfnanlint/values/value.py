"""What is known about a value: bounds, zero, NaN, Inf, dtype, and where it came from.

A `Value` stands for every element of a tensor, array or number at one point of the program, on
every input that the program admits. Bounds are those of the finite elements, in the value's own
dtype. Shapes are not known here.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, Final, Iterable, NamedTuple

from tfnanlint.values.tuples import Fields
from tfnanlint.values.words import UNBOUNDED

INF: Final = math.inf
LARGEST_AXIS: Final = 2.0**31 - 1  # int32, the dtype of tf.shape


class Limits(NamedTuple):
    """Numbers of one floating dtype: largest finite, smallest normal, spacing above 1 (IEEE 754,
    numpy.finfo).
    """

    max: float
    tiny: float
    eps: float


FLOATS: Final = {
    "float16": Limits(65504.0, 6.103515625e-05, 9.765625e-04),
    "bfloat16": Limits(3.3895313892515355e38, 1.1754943508222875e-38, 7.8125e-03),
    "float32": Limits(3.4028234663852886e38, 1.1754943508222875e-38, 1.1920928955078125e-07),
    "float64": Limits(1.7976931348623157e308, 2.2250738585072014e-308, 2.220446049250313e-16),
}
# tf.float16 keeps subnormals on the CPU: the smallest number that is not 0 (facts:
# T.epsilon_absorption).
SMALLEST: Final = {
    "float16": 2.0**-24,
    "bfloat16": 1.1754943508222875e-38,
    "float32": 1.1754943508222875e-38,
    "float64": 2.2250738585072014e-308,
}

HALVES: Final = ("float16", "bfloat16")
WHOLE: Final = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
NO_FLOATS: Final = WHOLE | {"bool", "string"}
# Relations with their sides exchanged, and what is true where one is false ("?": or of a NaN).
FLIPPED: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}
NEGATED: Final = {">": "<=?", ">=": "<?", "<": ">=?", "<=": ">?", "==": "!=?", "!=": "=="}
# integers, floats or truth values, as the program runs; judged as float32, but a fraction that
# meets it may be cut off
MIXED: Final = "mixed"

_SINGLE: Final = struct.Struct("f")
_HALF: Final = struct.Struct("e")


class _Tokens:
    """Counts the tokens. A token is no object that refers to its value: a value that refers to
    itself is never given back.
    """

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0


_TOKENS: Final = _Tokens()


NO_CONSTANT: Final[Any] = object()  # None is a constant
KEPT: Final[Any] = object()  # None can be given


class Value:
    """Bounds `lo`, `hi` of the finite elements; whether an element may be 0, NaN or infinite.

    `dtype` is a TensorFlow dtype name or None when not known (judged as float32). `kind` tells
    tensor, number, array, string, function, class, instance, module, layer, model, optimizer,
    sequence, dict, none, unknown. `const` is the Python constant it surely is, else NO_CONSTANT.
    `obj` is what the kind needs (a callee, elements). `origin` is the op application or the note
    that made it. `guarded` marks a value of which nothing is known but that the author has added a
    positive constant to. `evident` marks a value without bounds of which the program shows that any
    number can occur (a trainable variable, the output of a linear layer). `emptied`: a mask may
    have left no element. `token` is shared by all refinements of one value: two values with one
    token are the same number.
    """

    __slots__ = (
        "lo",
        "hi",
        "zero",
        "nan",
        "inf",
        "dtype",
        "kind",
        "const",
        "obj",
        "origin",
        "guarded",
        "evident",
        "emptied",
        "token",
    )

    def __init__(
        self,
        lo: float = -INF,
        hi: float = INF,
        zero: bool | None = None,
        nan: bool = False,
        inf: bool = False,
        dtype: str | None = None,
        kind: str = "tensor",
        const: Any = NO_CONSTANT,
        obj: Any = None,
        origin: Any = None,
        guarded: bool = False,
        evident: bool = False,
        token: int = 0,
        emptied: bool = False,
    ) -> None:
        self.lo = lo
        self.hi = hi
        self.zero = (lo <= 0.0 <= hi) if zero is None else (zero and lo <= 0.0 <= hi)
        self.nan = nan
        self.inf = inf
        self.dtype = dtype
        self.kind = kind
        self.const = const
        self.obj = obj
        self.origin = origin
        self.guarded = guarded
        self.evident = evident
        self.emptied = emptied
        if token == 0:
            token = _TOKENS.last = _TOKENS.last + 1
        self.token = token

    def copy(self) -> Value:
        """The same with a token of its own: `but` with nothing changed."""
        return Value(
            self.lo,
            self.hi,
            self.zero,
            self.nan,
            self.inf,
            self.dtype,
            self.kind,
            self.const,
            self.obj,
            self.origin,
            self.guarded,
            self.evident,
            0,
            self.emptied,
        )

    def but(
        self,
        *,
        lo: float | None = None,
        hi: float | None = None,
        zero: Any = KEPT,
        nan: bool | None = None,
        inf: bool | None = None,
        dtype: Any = KEPT,
        kind: str | None = None,
        const: Any = KEPT,
        obj: Any = KEPT,
        origin: Any = KEPT,
        evident: bool | None = None,
        token: int = 0,
        emptied: bool | None = None,
    ) -> Value:
        """A copy with some slots changed; it keeps the token only if told so."""
        if zero is KEPT:
            zero = (
                self.zero
                if lo is None and hi is None
                else self.zero or None
                if self.known
                else None
            )
        return Value(
            self.lo if lo is None else lo,
            self.hi if hi is None else hi,
            zero,
            self.nan if nan is None else nan,
            self.inf if inf is None else inf,
            self.dtype if dtype is KEPT else dtype,
            self.kind if kind is None else kind,
            self.const if const is KEPT else const,
            self.obj if obj is KEPT else obj,
            self.origin if origin is KEPT else origin,
            self.guarded,
            self.evident if evident is None else evident,
            token,
            self.emptied if emptied is None else emptied,
        )

    @property
    def known(self) -> bool:
        """Something bounds the value on at least one side, or the program shows that any number can
        occur.
        """
        return self.lo != -INF or self.hi != INF or self.evident

    @property
    def vague(self) -> bool:
        """Nothing is said of it but where it comes from: nothing will be of what may be this or
        another value.
        """
        return (
            self.kind == "unknown"
            and self.obj is None
            and self.dtype is None
            and self.origin is not None
            and self.zero
            and not (self.known or self.nan or self.inf or self.guarded or self.emptied)
        )

    @property
    def limits(self) -> Limits:
        return FLOATS.get(self.dtype or "float32", FLOATS["float32"])

    @property
    def positive(self) -> bool:
        """Every element is above 0 (NaN left aside)."""
        return self.lo > 0 or (self.lo == 0 and not self.zero)

    @property
    def below_zero(self) -> bool:
        """An element is negative or -0.0; that one can be -0.0 alone is said by the sign of the
        lower bound.
        """
        return self.lo < 0 or self.lo == 0 and self.zero and math.copysign(1.0, self.lo) < 0

    @property
    def nonnegative(self) -> bool:
        return self.lo >= 0

    @property
    def nonzero(self) -> bool:
        return not self.zero

    @property
    def exact(self) -> bool:
        """One number only."""
        return self.lo == self.hi and not self.nan and not self.inf

    @property
    def is_number(self) -> bool:
        return (
            self.const is not NO_CONSTANT
            and isinstance(self.const, (int, float))
            and not isinstance(self.const, bool)
        )

    def admits(self, number: float) -> bool:
        """Whether `number` (a float, also nan and inf) can be an element."""
        if number != number:
            return self.nan
        if number in (INF, -INF):
            return self.inf
        if number == 0:
            return self.zero
        return self.lo <= number <= self.hi

    def __str__(self) -> str:
        left = "[" if self.lo != -INF else "("
        right = "]" if self.hi != INF else ")"
        text = f"{left}{number_text(self.lo)}, {number_text(self.hi)}{right}"
        if self.lo <= 0 <= self.hi and not self.zero:
            text += " not 0"
        return text

    def __repr__(self) -> str:
        return (
            f"<Value {self.kind} {self} {self.dtype or '?'}"
            f"{' nan' if self.nan else ''}{' inf' if self.inf else ''}>"
        )


class Note:
    """An origin that is not an op application: `text` in words, the node and source it stands for.

    With an `index` it is one of the results of the op application `parent`. `passed` marks a
    parameter whose callers are in the project, but pass values that could not be followed; `outer`
    one that Keras fills, `data` with data; `computed` what a call gives that was not followed;
    `half` is the dtype of 16 bits that one of the values joined has. `parameter` is the name of a
    parameter, `path` the access path of what is read (`self.kernel`, `data['y']`), `default` the
    text that one of which nothing is known has by default, or NOUGHT. `joined` are the origins of
    all values that arrive here, of which `parent` is one, `options` the values where they are few.
    """

    __slots__ = (
        "text",
        "node",
        "source",
        "parent",
        "index",
        "passed",
        "outer",
        "data",
        "computed",
        "default",
        "parameter",
        "path",
        "half",
        "joined",
        "options",
    )

    def __init__(
        self,
        text: str,
        node: Any = None,
        source: Any = None,
        parent: Any = None,
        index: int | None = None,
        passed: bool = False,
        outer: bool = False,
        data: bool = False,
        computed: bool = False,
        default: str = "",
        parameter: str = "",
        path: str = "",
        half: str = "",
        joined: tuple[Any, ...] = (),
        options: tuple[Value, ...] = (),
    ) -> None:
        self.text = text
        self.node = node
        self.source = source
        self.parent = parent
        self.index = index
        self.passed = passed
        self.outer = outer
        self.data = data
        self.computed = computed
        self.default = default
        self.parameter, self.path = parameter, path
        self.half, self.joined = half, joined
        self.options = options

    @property
    def given(self) -> bool:
        """Whether it stands for what came from outside: a parameter, an attribute, an element of a
        dict.
        """
        return bool(self.text) and self.parent is None and not self.passed and not self.computed


_NUMERIC = frozenset({"tensor", "array", "number", "unknown"})


def number_text(number: float) -> str:
    """A bound as people write it: 0, 1e-7, inf."""
    if number == int(number) if math.isfinite(number) else False:
        if abs(number) < 1e6:
            return str(int(number))
    return f"{number:.6g}".replace("e-0", "e-").replace("e+0", "e+")


def is_numeric(value: Value) -> bool:
    """Whether a value is a tensor, array or number of floats (or nothing is known of it), not a
    shape, string or object.
    """
    return value.kind in _NUMERIC and value.dtype not in NO_FLOATS


def words(value: Value) -> str:
    """The range of a value in words, as a report shows it: `between 0 and 1`."""
    if not value.known or (value.lo == -INF and value.hi == INF):
        return UNBOUNDED
    if value.lo == value.hi:
        return f"exactly {number_text(value.lo)}"
    if value.hi == INF:
        return (
            f"above {number_text(value.lo)}"
            if value.lo == 0 and not value.zero
            else f"at least {number_text(value.lo)}"
        )
    if value.lo == -INF:
        return (
            f"below {number_text(value.hi)}"
            if value.hi == 0 and not value.zero
            else f"at most {number_text(value.hi)}"
        )
    return f"between {number_text(value.lo)} and {number_text(value.hi)}"


def value_in_words(value: Value) -> str:
    """A value with its range, as a part of a message: `a value between 0 and 1`."""
    if not value.known:
        return "a value about which nothing is known"
    bounds = words(value)
    if bounds == UNBOUNDED:
        return "an unbounded value"
    if value.lo == value.hi:
        return f"a value that is {bounds}"
    return f"a value of {bounds}" if bounds.startswith("at ") else f"a value {bounds}"


def number(constant, kind: str = "number") -> Value:
    """A Python constant. Integers beyond the float range have no bounds; NaN and Inf are flags."""
    if isinstance(constant, (bool, int, float)):
        try:
            as_float = float(constant)
        except OverflowError:
            return Value(kind=kind, const=constant)
        if as_float != as_float:
            return Value(INF, -INF, False, nan=True, kind=kind, const=constant)
        if as_float in (INF, -INF):
            return Value(as_float, as_float, False, inf=True, kind=kind, const=constant)
        return Value(as_float, as_float, kind=kind, const=constant)
    return Value(
        kind="string" if isinstance(constant, str) else "none" if constant is None else "unknown",
        const=constant,
    )


def unknown(kind: str = "unknown", origin=None, dtype=None) -> Value:
    """Nothing is known; a fresh token, so that two unknowns are never taken for one."""
    return Value(kind=kind, origin=origin, dtype=dtype)


# The value of what never arrives: the assumption that recursion starts from. Joins leave it out.
NOTHING: Final = Value(INF, -INF, False, kind="nothing")


def lowest(ends: list[float]) -> float:
    """The least of some bounds; -0.0 is less than 0.0, for 1 / x tells them apart."""
    least = min(ends)
    return (
        least
        if least != 0
        else -0.0
        if any([end == 0 and math.copysign(1.0, end) < 0 for end in ends])
        else 0.0
    )


def highest(ends: list[float]) -> float:
    """The greatest of some bounds; 0.0 is greater than -0.0."""
    greatest = max(ends)
    return (
        greatest
        if greatest != 0
        else 0.0
        if any([end == 0 and math.copysign(1.0, end) > 0 for end in ends])
        else -0.0
    )


def rounded(number: float, dtype: str | None) -> float:
    """`number` rounded to nearest in `dtype` (None: float32); beyond the largest finite it becomes
    infinite.
    """
    if number == 0 or number in (INF, -INF) or dtype == "float64":
        return number
    if dtype == "bfloat16":
        return _to_bfloat16(number)
    try:
        if dtype == "float16":
            return _HALF.unpack(_HALF.pack(number))[0]
        if dtype is None or dtype in ("float32", "bool", MIXED):
            return _SINGLE.unpack(_SINGLE.pack(number))[0]
    except OverflowError:
        return math.copysign(INF, number)
    return number


def beside(number: float, dtype: str | None, up: bool) -> float:
    """The next number of a dtype (None: float32) above or below `number`, which is rounded to it
    first.
    """
    number = rounded(number, dtype)
    if number in (0.0, INF, -INF):
        return number
    mantissa, exponent = math.frexp(number)
    step = math.ldexp(
        FLOATS[dtype or "float32"].eps
        if dtype is None or dtype in FLOATS
        else FLOATS["float64"].eps,
        exponent - 1,
    )
    if abs(mantissa) == 0.5 and (number > 0) != up:
        step /= 2  # below a power of two numbers are twice as dense
    return number + step if up else number - step


def _to_bfloat16(number: float) -> float:
    try:
        bits = struct.unpack("I", _SINGLE.pack(number))[0]
    except OverflowError:
        return math.copysign(INF, number)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return _SINGLE.unpack(struct.pack("I", bits))[0]


def outward(lo: float, hi: float, dtype: str | None, ulps: int = 4) -> tuple[float, float]:
    """Bounds moved apart by a few units in the last place: what another library's rounding may
    return.
    """
    eps = FLOATS.get(dtype or "float32", FLOATS["float32"]).eps * ulps
    if lo not in (INF, -INF):
        lo -= abs(lo) * eps
    if hi not in (INF, -INF):
        hi += abs(hi) * eps
    return lo, hi


def tensor(
    lo: float,
    hi: float,
    *like: Value,
    nan: bool = False,
    inf: bool = False,
    zero: bool | None = None,
    dtype: str | None = None,
) -> Value:
    """The result of arithmetic in the dtype of `like`: rounded, with overflow and underflow marked.

    A bound below the smallest normal number admits 0: products and exponentials flush.
    """
    dtype = dtype or joined_dtype(like)
    lo, hi = rounded(lo, dtype), rounded(hi, dtype)
    limits = FLOATS.get(dtype or "float32", FLOATS["float32"])
    if hi > limits.max and any(v.known for v in like):
        inf = True
    if lo < -limits.max and any(v.known for v in like):
        inf = True
    if zero is None or zero is False:
        if (0 < lo < limits.tiny) or (-limits.tiny < hi < 0):
            lo, hi, zero = min(lo, 0.0), max(hi, 0.0), True
    return Value(lo, hi, zero, nan=nan, inf=inf, dtype=dtype)


def joined_dtype(values: Iterable[Value]) -> str | None:
    """The dtype that tensors among `values` agree on; Python numbers follow the tensors, and arrays
    do where there is one.
    """
    agreed = held = None
    tensor = array = False
    for value in values:
        dtype, kind = value.dtype, value.kind
        # such are arrays nearly always: a tensor of float64 meets no other
        if kind == "array" or kind == "unknown" and dtype == "float64":
            held = (
                dtype
                if not array or held == dtype
                else "float64"
                if "float64" in (held, dtype)
                else None
            )
            array = True
        elif kind != "number" and kind != "none":
            tensor = True
            if dtype and agreed != dtype:
                if agreed is not None:
                    return None
                agreed = dtype
    return agreed if tensor else held


class Many:
    """The object of a list whose length is not known: every element is an `element`. With
    `is_chosen` it holds only some of those that it was made of, such as the biases of all weights.
    """

    __slots__ = ("element", "is_chosen")

    def __init__(self, element: Value, is_chosen: bool = False) -> None:
        self.element = element
        self.is_chosen = is_chosen


def renewed(old: tuple, elements: Iterable[Value]) -> tuple:
    """A tuple of other elements under the names of an old one."""
    return Fields.named(old.names, elements) if isinstance(old, Fields) else tuple(elements)


@dataclass(frozen=True, slots=True)
class Choice:
    """The object of a value that is one of several functions, layers, objects or modules:
    `act = tf.tanh if flag else tf.sigmoid`.
    """

    options: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Namespace:
    """The object of a module of TensorFlow, Keras or NumPy that a name holds:
    `layers = tf.keras.layers`.
    """

    name: str


NUMERIC_KINDS: Final = frozenset(("tensor", "number", "array", "unknown", "shape"))
_CALLABLE: Final = frozenset(("function", "layer", "model"))
_OBJECTS: Final = _CALLABLE | {"instance"}
# of one Sequential model with different layers, for each branch that adds one doubles them
MAX_OPTIONS: Final = 8
_MAX_INSTANCES: Final = 2  # what each of them is asked for takes as many steps again


def join(values: list[Value]) -> Value:
    """What holds whichever of the values arrives. The origin is that of the widest known one."""
    first = values[0]
    if len(values) == 1:
        return first
    values = [v for v in values if v.kind not in ("none", "nothing")] or values
    present = values[0]
    lo, hi, kind, const, token = present.lo, present.hi, first.kind, first.const, first.token
    zero = nan = inf = guarded = evident = emptied = False
    safe = same = one_dtype = True
    for v in values:  # one walk: this is where the analysis is most of the time
        same = same and v is first
        if v.lo < lo:
            lo = v.lo
        if v.hi > hi:
            hi = v.hi
        zero, nan, inf, evident = zero or v.zero, nan or v.nan, inf or v.inf, evident or v.evident
        emptied = emptied or v.emptied
        guarded, safe = guarded or v.guarded, safe and (v.guarded or v.positive)
        if v.token != token:
            token = 0
        if v.dtype != first.dtype:
            one_dtype = False
        if v.kind != kind:
            kind = ""
        if const is not NO_CONSTANT and (type(v.const) is not type(const) or v.const != const):
            const = NO_CONSTANT
    if len(values) == 1 or same:
        return present
    lo = lowest([v.lo for v in values]) if lo == 0 else lo
    hi = highest([v.hi for v in values]) if hi == 0 else hi
    if inf and (lo == -INF) != (hi == INF) and _infinite_beyond(values, hi == INF):
        lo, hi = -INF, INF
    if not kind and _truth_or_number(values):
        lo, hi, zero = -INF, INF, True
    return Value(
        lo,
        hi,
        zero,
        nan=nan,
        inf=inf,
        dtype=first.dtype if one_dtype and (kind or _of_tensors(values)) else _either_dtype(values),
        kind=kind or _mixed_kind(values),
        const=const,
        obj=_joined_object(values),
        origin=_joined_origin(values),
        guarded=guarded and safe,
        evident=evident,
        token=token,
        emptied=emptied,
    )


def _infinite_beyond(values: list[Value], below: bool) -> bool:
    """Whether a value with finite bounds may be infinite on either side, and has elements below 0
    (else: above 0).
    """
    return any(
        [v.inf and v.lo > -INF and v.hi < INF and (v.lo < 0 if below else v.hi > 0) for v in values]
    )


def _truth_or_number(values: list[Value]) -> bool:
    """Whether some are tensors of truth values and some are not, of which the same arithmetic makes
    other numbers: True * 2.0 is True.
    """
    numeric = any(v.kind == "number" and v.dtype != "bool" or v.kind == "array" for v in values)
    return numeric and any(v.kind == "tensor" and v.dtype == "bool" for v in values)


def _of_tensors(values: list[Value]) -> bool:
    """Whether their dtypes are no numbers' of Python or arrays', which take that of the tensor or
    number they meet.
    """
    return all(v.kind != "array" and (v.kind != "number" or v.dtype not in FLOATS) for v in values)


def _either_dtype(values: list[Value]) -> str | None:
    """`MIXED` for integers and floats or what may be either, for integers that NumPy and TensorFlow
    hold, and for truth values and others: a tensor of truth values stays one when it is multiplied.
    None for what else is not one dtype.
    """
    dtypes = {v.dtype for v in values if v.kind != "number"}
    if "bool" in dtypes and len(dtypes) > 1:
        return MIXED
    if any(
        v.kind == "number"
        and v.dtype in WHOLE
        and getattr(v.origin, "name", "").startswith(("tf.", "ops.size"))
        for v in values
    ):
        return MIXED  # tf.rank, tf.size, keras.ops.size: a tensor
    others = (
        None in dtypes or not dtypes.isdisjoint(FLOATS) or any(v.kind == "array" for v in values)
    )
    return MIXED if MIXED in dtypes or others and not WHOLE.isdisjoint(dtypes) else None


def _identity(obj: Any) -> Any:
    """What tells objects apart: of an object of a class of the program the call that makes it."""
    return getattr(obj, "identity", id(obj))


def _is_one_object(value: Value) -> bool:
    """Whether a value is a function, a layer or another object, or one of several."""
    return value.obj is not None and (value.kind in _OBJECTS or isinstance(value.obj, Choice))


def _joined_object(values: list[Value]) -> Any:
    """The object they share; of several functions the choice, of tuples and dicts what each place
    may hold.
    """
    objects = [v.obj for v in values]
    first = objects[0]
    for obj in objects:
        if obj is not first:
            break
    else:
        return first
    modules = all(isinstance(obj, (Namespace, Choice)) for obj in objects)
    if modules or all(_is_one_object(v) for v in values):
        options = (
            option
            for v in values
            for option in (v.obj.options if isinstance(v.obj, Choice) else (v,))
        )
        choice = Choice(tuple({_identity(option.obj): option for option in options}.values()))
        if all(v.kind == "instance" for v in values) and len(choice.options) > _MAX_INSTANCES:
            return None
        return choice if len(choice.options) <= MAX_OPTIONS else unseen(choice) or choice
    if all(
        isinstance(obj, tuple)
        and type(obj) is type(first)
        and len(obj) == len(first)
        and getattr(obj, "names", ()) == getattr(first, "names", ())
        for obj in objects
    ):
        return renewed(first, (join(list(items)) for items in zip(*objects)))
    if all(isinstance(obj, (tuple, Many)) for obj in objects):
        items = [
            item for obj in objects for item in (obj if isinstance(obj, tuple) else (obj.element,))
        ]
        return Many(join(items))
    if all(isinstance(obj, (dict, Many)) for obj in objects) and any(
        isinstance(obj, Many) for obj in objects
    ):
        items = [
            item
            for obj in objects
            for item in (obj.values() if isinstance(obj, dict) else (obj.element,))
        ]
        return Many(join(items))
    if all(isinstance(obj, dict) and obj.keys() == first.keys() for obj in objects):
        return {key: join([obj[key] for obj in objects]) for key in first}
    return None


def unseen(obj: Any) -> Any:
    """The one Sequential model that an object or all of a choice are, without its layers; None for
    others.
    """
    models = {id(one): one for one in (getattr(option, "unseen", None) for option in _options(obj))}
    return models.popitem()[1] if len(models) == 1 else None


def _options(obj: Any) -> list[Any]:
    return [option.obj for option in obj.options] if isinstance(obj, Choice) else [obj]


def _mixed_kind(values: list[Value]) -> str:
    kinds = {v.kind for v in values}
    if kinds <= _CALLABLE:
        return "function"
    return "tensor" if kinds <= {"tensor", "number"} else "unknown"  # an array does as NumPy does


def _joined_origin(values: list[Value]):
    """The origin of the value that admits most: it is the one a hazard comes from, but not what
    surely arrives.
    """
    first = values[0].origin
    if not any([v.origin is not first for v in values]):
        return first
    widest = max(values, key=_admitted)
    for v in values:
        if (
            v.origin is not None
            and v.origin is not widest.origin
            and _admitted(v) == _admitted(widest)
            and _limits(widest.origin, v.origin)
        ):
            widest = v
    return Note(
        "",
        parent=widest.origin,
        half=next((v.dtype for v in values if v.dtype in ("float16", "bfloat16")), ""),
        joined=tuple([v.origin for v in values]),
        options=tuple(values) if len(values) <= MAX_OPTIONS else (),
    )


def _admitted(value: Value) -> tuple[bool, bool, bool, float, float]:
    return (value.origin is not None, value.zero, value.nan or value.inf, -value.lo, value.hi)


def _limits(application: Any, origin: Any) -> bool:
    """Whether the op `application` bounds `origin`, by something of which nothing is known: the
    branch without a bound stands for both.
    """
    return not isinstance(application, Note) and application.limits(origin)


def widen(old: Value, new: Value) -> Value:
    """`new` with every bound that still moved set to infinity, so that loops settle; 0 is kept as a
    threshold.
    """
    lo = new.lo if new.lo >= old.lo else (0.0 if new.lo >= 0 else -INF)
    hi = new.hi if new.hi <= old.hi else (0.0 if new.hi <= 0 else INF)
    obj = new.obj
    if isinstance(obj, tuple) and isinstance(old.obj, tuple) and len(obj) == len(old.obj):
        obj = renewed(obj, (widen(before, after) for before, after in zip(old.obj, obj)))
    elif isinstance(obj, Many) and isinstance(old.obj, Many):
        obj = Many(widen(old.obj.element, obj.element))
    elif isinstance(obj, dict) and isinstance(old.obj, dict) and obj.keys() == old.obj.keys():
        obj = {key: widen(old.obj[key], item) for key, item in obj.items()}
    elif new.kind == "model" and (model := unseen(obj)) is not None and model is unseen(old.obj):
        obj = model
    return new.but(
        lo=lo,
        hi=hi,
        zero=new.zero or old.zero or (lo < new.lo and lo <= 0 <= hi and not new.positive),
        const=NO_CONSTANT,
        obj=obj,
    )


def clamp(value: Value, lo: float = -INF, hi: float = INF, nonzero: bool = False) -> Value:
    """`value` where it is known to lie in [lo, hi]: the same number, so the token is kept."""
    new_lo, new_hi = max(value.lo, lo), min(value.hi, hi)
    zero = value.zero and not nonzero and new_lo <= 0 <= new_hi
    if new_lo > new_hi:
        new_lo, new_hi = (lo, lo) if lo > -INF else (hi, hi)
    # which Inf the flag means
    above, below = value.hi == INF or value.lo != -INF, value.lo == -INF or value.hi != INF
    inf = value.inf and (above and hi == INF or below and lo == -INF)
    return Value(
        new_lo,
        new_hi,
        zero,
        nan=value.nan and lo == -INF and hi == INF,
        inf=inf,
        dtype=value.dtype,
        kind=value.kind,
        const=value.const,
        obj=value.obj,
        origin=value.origin,
        guarded=value.guarded,
        evident=value.evident and lo == -INF and hi == INF,
        token=value.token,
        emptied=value.emptied,
    )


def covers(old: Value, new: Value) -> bool:
    """Whether everything `new` can be, `old` can be too."""
    if new.kind == "nothing":
        return True
    return (
        old.lo <= new.lo
        and new.hi <= old.hi
        and (old.zero or not new.zero)
        and (old.nan or not new.nan)
        and (old.inf or not new.inf)
        and (old.emptied or not new.emptied)
        and old.kind == new.kind
        and (old.dtype is None or old.dtype == new.dtype)
        and _covers_object(old, new)
    )


def _covers_object(old: Value, new: Value) -> bool:
    if old.obj is None or old.obj is new.obj or old.kind in ("tensor", "array", "number"):
        return True
    if old.kind == "model" and old.obj is unseen(old.obj):
        return unseen(new.obj) is old.obj
    if isinstance(old.obj, Choice):
        return {
            _identity(v.obj) for v in (new.obj.options if isinstance(new.obj, Choice) else (new,))
        } <= {_identity(v.obj) for v in old.obj.options}
    if isinstance(old.obj, tuple) and isinstance(new.obj, tuple) and len(old.obj) == len(new.obj):
        return all(covers(before, after) for before, after in zip(old.obj, new.obj))
    if isinstance(old.obj, dict) and isinstance(new.obj, dict) and old.obj.keys() == new.obj.keys():
        return all(covers(item, new.obj[key]) for key, item in old.obj.items())
    if isinstance(old.obj, Many) and isinstance(new.obj, (tuple, Many)):
        return all(
            covers(old.obj.element, item)
            for item in (new.obj if isinstance(new.obj, tuple) else (new.obj.element,))
        )
    return False


def related(value: Value, relation: str, bound: Value) -> Value:
    """`value` where `value relation bound` holds; with "?" also where one of them is NaN, with "??"
    where any other element is.
    """
    if relation.endswith("?"):
        return _related_or_nan(value, relation, bound)
    if relation == "finite":
        return value.but(nan=False, inf=False, token=value.token)
    if relation == "number":
        return value.but(nan=False, token=value.token)
    if bound.kind not in NUMERIC_KINDS or bound.emptied:  # what holds for all of none says nothing
        return value
    dtype = "float64" if value.kind == "number" else value.dtype
    bound = _as_compared(bound, dtype)
    match relation:
        case ">" if bound.lo > -INF:
            return clamp(value, lo=beside(bound.lo, dtype, True), nonzero=bound.lo >= 0)
        case ">=" if bound.lo > -INF:
            return clamp(
                value, lo=bound.lo, nonzero=bound.lo > 0 or (bound.lo == 0 and not bound.zero)
            )
        case "<" if bound.hi < INF:
            return clamp(value, hi=beside(bound.hi, dtype, False), nonzero=bound.hi <= 0)
        case "<=" if bound.hi < INF:
            return clamp(value, hi=bound.hi, nonzero=bound.hi < 0)
        case "==" if bound.known:
            return clamp(value, lo=bound.lo, hi=bound.hi, nonzero=not bound.zero)
        case "beyond" if bound.lo > 0:
            return clamp(value, nonzero=True)
        case "!=" if bound.lo == bound.hi == 0:
            return clamp(value, nonzero=True)
    return value


def _related_or_nan(value: Value, relation: str, bound: Value) -> Value:
    """`related` for a relation that ends with "?" or "??"."""
    if value.nan and relation.endswith("??"):
        return value
    narrowed = related(value, relation[:-1], bound)
    if narrowed is value or bound.nan or (bound.kind in ("tensor", "array") and not bound.exact):
        # a comparison with NaN says nothing, and what is computed of unknown values may be NaN
        # without being said so
        return value
    return narrowed.but(nan=True, token=narrowed.token) if value.nan else narrowed


def _as_compared(bound: Value, dtype: str | None) -> Value:
    """A bound in the dtype of the tensor that TensorFlow compares with it."""
    if bound.kind != "number":
        return bound
    if dtype in FLOATS:
        return bound.but(lo=rounded(bound.lo, dtype), hi=rounded(bound.hi, dtype))
    if dtype is None:  # float32, perhaps float64
        return bound.but(
            lo=min(bound.lo, rounded(bound.lo, None)),
            hi=max(bound.hi, rounded(bound.hi, None)),
            zero=bound.zero,
        )
    return bound
