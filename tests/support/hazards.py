"""Forms that a rule finds and repairs, as templates that programs are made of: one line a form.

A template is statements and an expression, separated by `;`. `$a` is a name that the program
chooses; `{r}` is an input:

    r   any number                   hazards: 0, equal numbers in a row, rows of 0
    z   logits                       hazards: up to 1000 on both sides
    s   positive on ordinary inputs  hazards: 0, also in parts
    i   positive on ordinary inputs  hazards: negative, 0
    q   probability                  hazards: 0 and 1
    h   one-hot labels               m   mask of 0 and 1, on hazards also of 0 alone
    n   any number                   hazards: NaN
    u   what only forms read whose repair is meant to move values

A repeated hole is the same input; `{r2}` is another one of the kind.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hazard:
    """A form. `gives` says what its expression is worth once it is repaired.

    `unit`: in [0, 1]; `positive`, `real`: not large; `large`: anything; a second word says its
    shape, if it is not that of its inputs (`other`: it stands in no other form). `half`: the form
    holds in float16, too. `eager`: it is no part of a graph.
    """

    code: str
    gives: str
    template: str
    half: bool = False
    eager: bool = False

    @property
    def statements(self) -> list[str]:
        return [part.strip() for part in self.template.split(";")]

    @property
    def shape(self) -> str:
        return self.gives.partition(" ")[2] or "full"

    @property
    def moves(self) -> bool:
        """Whether its repair is meant to change values, as that of exchanged arguments is."""
        return "{u}" in self.template


def _read(text: str) -> tuple[Hazard, ...]:
    forms = []
    for line in text.strip().splitlines():
        code, gives, options, template = (part.strip() for part in line.split("|", 3))
        forms.append(Hazard(code, gives, template, "half" in options, "eager" in options))
    return tuple(forms)


HAZARDS = _read("""
TFN101 | large          | half  | $a = tf.nn.relu({s}); tf.math.log($a)
TFN101 | large row      |       | tf.math.log(tf.reduce_sum(tf.square({s}), axis=-1))
TFN101 | large          |       | $a = tf.maximum({i}, -1.0); tf.math.log1p($a)
TFN102 | real scalar    |       | $a = tf.cast({m} > 0.5, {r}.dtype); tf.reduce_sum({r} * $a) / tf.reduce_sum($a)
TFN102 | real scalar    |       | $a = tf.reduce_sum({m}); tf.reduce_sum(tf.square({r}) * {m}) / $a
TFN102 | real row       |       | $a = tf.cast({m} > 0.5, {r}.dtype); tf.reduce_sum({r} * $a, axis=-1) / tf.reduce_sum($a, axis=-1)
TFN102 | large          |       | $a = tf.reduce_sum(tf.square({s})); tf.square({r}) / $a
TFN102 | large          | half  | $a = tf.nn.relu({s}); $a / tf.reduce_max($a)
TFN102 | large          |       | $a = tf.nn.softmax({r}); tf.math.reciprocal($a)
TFN102 | large          |       | tf.math.rsqrt(tf.reduce_sum(tf.square({r}), axis=-1, keepdims=True)) * {s}
TFN102 | unit scalar    |       | $a = tf.nn.relu({s}); $b = tf.nn.relu({q}); 2.0 * tf.reduce_sum($a * $b) / (tf.reduce_sum($a) + tf.reduce_sum($b))
TFN102 | unit           |       | $a = tf.nn.relu({s}); $a / tf.reduce_sum($a, axis=-1, keepdims=True)
TFN102 | real           |       | ({r} - tf.reduce_mean({r}, axis=-1, keepdims=True)) / tf.math.reduce_std({r}, axis=-1, keepdims=True)
TFN102 | large row      |       | tf.reduce_sum({s}, axis=-1) / tf.norm({r}, axis=-1)
TFN103 | positive row   |       | tf.sqrt(tf.reduce_mean(tf.square({r}), axis=-1) - tf.square(tf.reduce_mean({r}, axis=-1)))
TFN103 | positive       |       | $a = tf.square({s} + 3.0) - tf.square({q} * 3.0); tf.sqrt($a - 1.0)
TFN103 | positive       |       | $a = 1.0 - tf.square({q}); $b = $a - 0.0001; tf.sqrt($b)
TFN104 | positive row   |       | tf.reduce_sum(tf.square({r}), axis=-1) ** 0.5
TFN104 | real           |       | tf.tanh({i}) ** 1.5
TFN104 | positive       |       | $a = 1.0 - tf.sigmoid({z}); $a ** 0.5
TFN104 | large row      |       | $a = tf.reduce_sum(tf.square({r}), axis=-1); tf.pow($a, -0.5)
TFN105 | real           |       | tf.acos(tf.clip_by_value({q}, -1.0, 1.0))
TFN105 | real           |       | $a = tf.clip_by_value({q}, -1.0, 1.0); tf.asin($a)
TFN105 | large          |       | tf.atanh(tf.tanh({q} * 2.0))
TFN105 | real           |       | tf.acosh(1.0 + tf.nn.relu({s}))
TFN107 | real scalar    |       | $a = tf.boolean_mask({r}, {m} > 0.5); tf.reduce_mean($a)
TFN108 | large other    | eager | $a = tf.matmul({u}, {u}, transpose_b=True); tf.linalg.cholesky($a)
TFN201 | positive row   | half  | tf.norm({r}, axis=-1)
TFN201 | positive col   |       | $a = {r} - {s}; tf.norm($a, ord=2, axis=1, keepdims=True)
TFN201 | positive row   |       | tf.norm({r} * 2.0, axis=-1)
TFN201 | positive row   | eager | tf.math.reduce_euclidean_norm({r}, axis=-1)
TFN202 | positive row   |       | $a = tf.reduce_sum(tf.square({r} - {r2}), axis=-1); tf.sqrt($a)
TFN202 | positive scalar|       | tf.sqrt(tf.reduce_mean(tf.square({r} - {s})))
TFN202 | positive       | half  | $a = tf.nn.relu({s}); tf.sqrt($a)
TFN202 | positive       |       | tf.sqrt(1.0 - tf.sigmoid({z}))
TFN203 | positive row   | half  | tf.math.reduce_std({r}, axis=-1)
TFN203 | positive row   |       | tf.sqrt(tf.math.reduce_variance({r}, axis=-1))
TFN203 | positive col   |       | $a, $b = tf.nn.moments({r}, axes=[-1], keepdims=True); tf.sqrt($b)
TFN204 | large          | half  | tf.where({s} > 0, tf.math.log({s}), tf.zeros_like({s}))
TFN204 | large          |       | $a = tf.math.log({s}); tf.where({s} > 0.0, $a, tf.zeros_like($a))
TFN204 | large          |       | tf.where(tf.equal({s}, 0.0), tf.zeros_like({s}), {r} / {s})
TFN204 | positive       |       | tf.where({s} > 0, tf.sqrt({s}), tf.zeros_like({s}))
TFN205 | large          |       | $a = {s} / {s2}; tf.where(tf.math.is_nan($a), tf.zeros_like($a), $a)
TFN206 | large          | half  | tf.clip_by_value(tf.math.log({s}), -15.0, 15.0)
TFN206 | large          |       | $a = tf.math.log({s}); tf.maximum($a, -20.0)
TFN206 | real           |       | tf.minimum(1.0 / tf.nn.relu({s}), 100.0)
TFN206 | real row       |       | tf.minimum(1.0 / tf.norm({r}, axis=-1), 100.0)
TFN207 | real           |       | $a = tf.nn.relu({q}); $a * tf.math.log($a)
TFN207 | real row       | half  | $a = tf.nn.relu({q}); -tf.reduce_sum($a * tf.math.log($a), axis=-1)
TFN207 | large          |       | $a = tf.cast({s} > 0, {s}.dtype); $a * (1.0 / {s})
TFN207 | large          |       | $a = tf.cast({s} > 0, {s}.dtype); $a * tf.math.log({s})
TFN208 | real           |       | $a = tf.tanh({r}); $b = tf.tanh({r2}); tf.atan2($a, $b)
TFN208 | real           |       | tf.atan2(tf.nn.relu({s}), tf.nn.relu({s2}))
TFN209 | real           |       | tf.math.cumprod(tf.nn.relu({s}), axis=-1)
TFN301 | large          | half  | tf.math.log(tf.nn.softmax({z}))
TFN301 | large          |       | $a = tf.nn.softmax({z}); tf.math.log($a)
TFN301 | large          |       | $a = tf.nn.softmax({z} * 0.5, axis=0); 2.0 * tf.math.log($a)
TFN301 | large row      |       | $a = tf.nn.softmax({z}); $b = tf.math.log($a); tf.reduce_sum({h} * $b, axis=-1)
TFN302 | large          | half  | $a = tf.sigmoid({z}); tf.math.log($a)
TFN302 | large          |       | $a = tf.nn.sigmoid({z}); tf.math.log(1.0 - $a)
TFN303 | large scalar   |       | $a = tf.nn.softmax({z}); -tf.reduce_mean(tf.reduce_sum({h} * tf.math.log($a), axis=-1))
TFN303 | large scalar   |       | $a = tf.sigmoid({z}); -tf.reduce_mean({h} * tf.math.log($a) + (1.0 - {h}) * tf.math.log(1.0 - $a))
TFN303 | real scalar    |       | $a = tf.clip_by_value(tf.sigmoid({z}), 1e-7, 1.0 - 1e-7); -tf.reduce_mean({h} * tf.math.log($a) + (1.0 - {h}) * tf.math.log(1.0 - $a))
TFN303 | large row      |       | $a = tf.nn.softmax({z} + {r}); -tf.reduce_sum({h} * tf.math.log($a + 1e-8), axis=-1)
TFN301 | large row      |       | $a = tf.nn.softmax({z}); $b = tf.nn.softmax({z2}); tf.reduce_sum($a * (tf.math.log($a) - tf.math.log($b)), axis=-1)
TFN304 | large          | half  | tf.math.log(1.0 + tf.exp({z}))
TFN304 | large          |       | $a = tf.exp({z}); tf.math.log1p($a)
TFN305 | large row      | half  | tf.math.log(tf.reduce_sum(tf.exp({z}), axis=-1))
TFN305 | large col      |       | $a = tf.exp({z}); tf.math.log(tf.reduce_sum($a, 1, keepdims=True))
TFN305 | large          |       | $a = {z} - {r}; $a - tf.math.log(tf.reduce_sum(tf.exp($a), axis=-1, keepdims=True))
TFN305 | large scalar   |       | tf.math.log(tf.reduce_mean(tf.exp({z})))
TFN306 | unit           | half  | $a = tf.exp({z}); $a / tf.reduce_sum($a, axis=-1, keepdims=True)
TFN306 | unit           |       | tf.exp({z}) / tf.reduce_sum(tf.exp({z}), axis=-1, keepdims=True)
TFN307 | real           |       | tf.math.log(1.0 + {s})
TFN307 | real           |       | $a = 0.5 * {q}; tf.math.log(1.0 - $a)
TFN308 | large          |       | tf.exp({q}) - 1.0
TFN308 | large          |       | $a = tf.exp(-{s}); 1.0 - $a
TFN309 | positive       |       | tf.sqrt(tf.exp(-tf.abs({z})))
TFN309 | positive       |       | $a = tf.exp(-{s}); tf.sqrt($a)
TFN310 | real row       |       | tf.reduce_mean(tf.square({r}), axis=-1) - tf.square(tf.reduce_mean({r}, axis=-1))
TFN310 | real col       |       | $a = tf.reduce_mean({r}, axis=-1, keepdims=True); tf.reduce_mean({r} ** 2, axis=-1, keepdims=True) - $a ** 2
TFN311 | unit           | half  | 1.0 / (1.0 + tf.exp(-{z}))
TFN311 | large          |       | $a = 1.0 + tf.exp(-{z}); {r} / $a
TFN311 | real           |       | (tf.exp({z}) - tf.exp(-{z})) / (tf.exp({z}) + tf.exp(-{z}))
TFN312 | large          |       | tf.math.log(1.0 - tf.square(tf.tanh({z})))
TFN312 | large          |       | $a = tf.tanh({z}); tf.math.log(1.0 - $a ** 2 + 1e-8)
TFN313 | large row      | eager | $a = tf.linalg.diag(0.01 + tf.nn.relu({s})); tf.math.log(tf.linalg.det($a))
TFN314 | real           | half  | {r} / tf.norm({r}, axis=-1, keepdims=True)
TFN314 | real           |       | $a = tf.sqrt(tf.reduce_sum(tf.square({r}), axis=-1, keepdims=True)); {r} / $a
TFN314 | real           |       | $a = {r} * 0.5; $a * tf.math.rsqrt(tf.reduce_sum($a * $a, axis=-1, keepdims=True))
TFN401 | large          |       | tf.math.log(tf.clip_by_value({q}, 1e-7, tf.reduce_max({q})))
TFN402 | large          |       | $a = tf.clip_by_value({q}, 1e-8, 1 - 1e-8); tf.math.log(1.0 - $a)
TFN402 | large          |       | tf.math.log(1.0 - {q} + 1e-8)
TFN402 | large          |       | $a = tf.sigmoid({z}); tf.math.log(1.0 - $a + 1e-8)
TFN402 | large          |       | -(1.0 - {q}) * tf.math.log(1.0 - {q} + 1e-8)
TFN403 | large          |       | tf.math.log(tf.nn.relu({s}) + 1e-45)
TFN403 | real other     |       | $a = tf.cast({s} + 1.0, tf.float16); tf.math.log(tf.nn.relu($a) + 1e-8)
TFN404 | real           |       | {r} / (tf.norm({r}, axis=-1, keepdims=True) + 1e-8)
TFN404 | real           |       | $a = tf.reduce_mean({r}, axis=-1, keepdims=True); ({r} - $a) / (tf.math.reduce_std({r}, axis=-1, keepdims=True) + 1e-8)
TFN404 | positive row   |       | tf.sqrt(tf.reduce_sum(tf.square({r}), axis=-1)) + 1e-8
TFN404 | real row       |       | $a = tf.norm({r}, axis=-1); $b = tf.norm({r2}, axis=-1); tf.reduce_sum({r} * {r2}, axis=-1) / ($a * $b + 1e-8)
TFN202 | positive       |       | $a = tf.sqrt(tf.nn.relu({s})); tf.maximum($a, 1e-8)
TFN405 | large          |       | tf.math.log(tf.tanh({i}) + 1e-8)
TFN405 | large          |       | tf.math.log(tf.maximum({i}, 0.0))
TFN405 | large          |       | $a = tf.clip_by_value({q}, 0.0, 1.0); tf.math.log($a)
TFN406 | large          |       | $a = {q} * 1.0; tf.clip_by_value($a, 1e-7, 1.0); tf.math.log($a)
TFN407 | real           |       | $a = tf.identity({n}); tf.where($a == np.nan, tf.zeros_like($a), $a)
TFN408 | large row      |       | tf.nn.softmax_cross_entropy_with_logits(labels={u}, logits={h})
TFN501 | unit           |       | tf.nn.softmax(tf.nn.relu({s}))
TFN502 | large row      |       | $a = tf.nn.softmax({u}); tf.nn.softmax_cross_entropy_with_logits(labels={h}, logits=$a)
TFN503 | large row      | eager | $a = keras.layers.Dense(4, kernel_initializer='identity')({u}); keras.losses.categorical_crossentropy({h}, $a)
TFN504 | large row      | eager | $a = keras.layers.Dense(4, kernel_initializer='identity')({u}); keras.losses.poisson({h}, $a)
TFN506 | unit           |       | $a = tf.identity({r}); tf.nn.softmax(tf.where({m} > 0.5, $a, -np.inf))
TFN506 | unit           |       | tf.nn.softmax({r} + tf.where({m} > 0.5, 0.0, -np.inf))
TFN601 | unit other     |       | $a = tf.cast({r}, tf.float16); $b = tf.cast(tf.stop_gradient({m}), tf.float16); tf.nn.softmax($a + (1.0 - $b) * -1e9)
TFN602 | large          | eager | $a = keras.layers.Activation('softmax', dtype='mixed_float16'); $b = keras.Input((4,)); $c = keras.Model($b, $a($b)); $c({u})
TFN604 | positive other |       | $a = tf.cast({q}, tf.float16); tf.reduce_mean(tf.square($a), axis=-1, keepdims=True)
TFN901 | real           | eager | $a = tf.compat.v1.Session(graph=tf.Graph()); $a = tf_debug.LocalCLIDebugWrapperSession($a, ui_type='readline'); tf.debugging.disable_check_numerics(); {r} * 2.0
""")
