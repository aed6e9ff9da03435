"""Statements of random programs that change what other names hold, or leave the order of the lines:
variables, arrays in place, captured names, generators of functions, nested loops, contexts.
random_programs.py makes the others and runs them all.
"""

from __future__ import annotations

from typing import Any

from random_expressions import CONDITIONS, CONSTANTS


def indented(lines: list[str], levels: int = 1) -> list[str]:
    return ["    " * levels + line for line in lines]


class MoreStatements:
    """Mixed into `Generator`, whose `fill`, `expression` and `_new` they use."""

    random: Any
    fill: Any
    expression: Any
    _new: Any

    def _simple(self, scope: Any, count: int, prefer: list[str] | None = None) -> list[str]:
        return [self.expression(scope, prefer, simple=True) for _ in range(count)]

    def _bound(self, scope: Any, lines: list[str], *names: str) -> list[str]:
        """The lines, when they run and give the names small numbers."""
        scope.run(lines)
        for name in names:
            scope.bind(name)
        return [*lines, *(f"reveal({name})" for name in names)]

    def _sometimes(self, line: str) -> list[str]:
        """A line as it stands, under a test, in a loop."""
        head = self.random.choice(
            (
                "",
                "",
                "if flag:",
                "for _ in range(n):",
                "for _ in range(2):",
                "if not flag and n > 1:",
            )
        )
        return [head, f"    {line}"] if head else [line]

    def variable(self, scope: Any) -> list[str]:
        """A variable, perhaps with another name, that is assigned to; what was read before stays."""
        w, other, before, name = self._new("w"), self._new("w"), self._new(), self._new()
        options = self.random.choice(
            ("", "", ", trainable=False", ", constraint=tf.nn.relu", ", dtype=tf.float32")
        )
        # Variables are taken to be finite, and gradients: that they are not is what the rules look
        # for.
        finite = [
            f"tf.where(tf.math.is_finite({one}), {one}, tf.zeros_like({one}))"
            for one in (self.fill(scope, "{x}"), self.fill(scope, "{x}"))
        ]
        made = self.random.choice(
            (
                f"tf.Variable({finite[0]}{options})",
                f"tf.Variable(tf.minimum(tf.abs({finite[0]}), 9.0) + 1.0{options})",
                f"tf.Variable({self.random.choice(CONSTANTS[:8])}{options})",
                "tf.Variable(tf.zeros([4]))",
                "tf.Variable(1, trainable=False)",
            )
        )
        lines = [
            f"{w} = {made}",
            f"{other} = {w}",
            f"{before} = {self.random.choice((f'{w} + 0', f'tf.identity({w})', f'{w}.value() * 1'))}",
        ]
        change = self.random.choice(
            (
                "{w}.assign({e})",
                "{w}.assign_add({e})",
                "{w}.assign_sub({e})",
                "{w}.assign(tf.abs({w}))",
                "{w}.assign_add(tf.ones_like({w}))",
                "{w}.assign({w} * {c})",
                "{w}.assign(tf.maximum({w}, {c}))",
            )
        )
        change = change.format(
            w=self.random.choice((w, other)),
            e=self.random.choice(("{e}", "tf.sigmoid({e})", "tf.tanh({e}) * 0.5")).format(
                e=finite[1]
            ),
            c=self.random.choice(CONSTANTS[:5]),
        )
        lines += [
            *self._sometimes(change),
            f"reveal({w})",
            f"reveal({before})",
            f"{name} = {self.random.choice((w, other))} * 1",
        ]
        return self._bound(scope, lines, name, before)

    def in_place(self, scope: Any) -> list[str]:
        """An array that is changed in place, through one of two names. What a function does to its
        argument is not followed.
        """
        one, two = self._new("r"), self._new("r")
        made = self.fill(
            scope,
            self.random.choice(
                (
                    "np.array({x})",
                    "{x}.numpy().copy()",
                    "np.array(tf.sigmoid({x}))",
                    "np.abs({x})",
                    "np.ones(4)",
                    "np.zeros([3, 4], np.float32)",
                    "np.asarray({x}).astype('float64')",
                    "np.exp(-np.abs({x}))",
                    "np.array([0.5, 2.0, 3.0])",
                )
            ),
        )
        aliased = self.random.choice(
            (
                "{p}",
                "{p}",
                "{p}[:]",
                "{p}.copy()",
                "{p}.reshape(-1)",
                "np.asarray({p})",
                "np.ravel({p})",
            )
        )
        lines = [f"{one} = {made}", f"{two} = {aliased.format(p=one)}"]
        change = self.random.choice(
            (
                "{p} += {c}",
                "{p} *= {c}",
                "{p} -= 2.0",
                "{p}[{p} > {c}] = 0.0",
                "{p}[0] = {c}",
                "{p}[...] = {c}",
                "{p}[:] = {p} - 1.0",
                "{p}.fill({c})",
                "np.maximum({p}, {c}, out={p})",
                "{p}[1:] *= -1.0",
                "{p}.sort()",
                "np.negative({p}, out={p})",
            )
        )
        change = change.format(
            p=self.random.choice((one, two)), c=self.random.choice(CONSTANTS[:-1])
        )
        return self._bound(scope, [*lines, *self._sometimes(change)], one, two)

    def of_array(self, scope: Any) -> list[str]:
        """What methods and functions of NumPy make of an array."""
        name, array = self._new(), self._new("r")
        lines = [
            f"{array} = {self.fill(scope, self.random.choice(('{x}.numpy()', 'np.array({v})', 'np.array({x}, np.float64)')))}"
        ]
        use = self.random.choice(
            (
                "{r}.mean()",
                "{r}.sum()",
                "{r}.max()",
                "{r}.min()",
                "{r}.std()",
                "{r}.var()",
                "{r}.prod()",
                "{r}.clip(0.1, 0.9)",
                "{r}.astype('float64')",
                "{r}.astype(np.float16)",
                "{r}.astype(int)",
                "np.exp({r})",
                "np.log1p(np.abs({r}))",
                "{r} / {r}.sum()",
                "{r} - {r}.max()",
                "np.where({r} > 0, {r}, 1.0)",
                "np.where({r} > {c}, {r}, {c})",
                "{r}[{r} > 0]",
                "{r}[{r} > 0].mean()",
                "np.sqrt({r} ** 2 + 1e-8)",
                "np.linalg.norm({r})",
                "np.mean({r} * {r})",
                "{r} @ {r}.T",
                "float({r}.max())",
                "{r}.max().item()",
                "np.argmax({r})",
                "np.cumsum({r})",
                "np.diff({r})",
                "np.sort({r})[0]",
                "np.median({r})",
                "np.tanh({r}) * {c}",
                "np.log(np.maximum({r}, 1e-12))",
                "np.clip({r}, {c}, None)",
                "np.nan_to_num({r} / {r})",
                "np.float32({c}) * {r}",
                "tf.constant({r})",
                "tf.convert_to_tensor({r}) + 1.0",
                "np.maximum({r}, {c}) + {c}",
                "np.power(np.abs({r}), 0.5)",
                "np.square({r}).mean()",
                "np.count_nonzero({r})",
                "{r}.size + 0.5",
                "{r}.shape[0] * {c}",
                "np.mean([{c}, 2.0])",
                "np.expand_dims({r}, 0)",
                "np.concatenate([{r}, {r}])",
                "np.stack([{r}, -{r}])",
                "np.any({r} > {c})",
                "np.arange(4) * {c}",
                "np.sign({r})",
                "np.hypot({r}, {r})",
                "np.ptp({r})",
                "np.std({r}, ddof=1)",
                "np.full([3], {c})",
                "np.eye(3) * {c}",
                "np.linspace({c}, 2.0, 5)",
                "np.dot({r}, {r}.T)",
                "np.outer({r}, {r})",
                "{r}.any() * 1.0",
            )
        )
        return self._bound(
            scope,
            [*lines, f"{name} = {use.format(r=array, c=self.random.choice(CONSTANTS[:-1]))}"],
            name,
        )

    def item_augmented(self, scope: Any) -> list[str]:
        """Augmented assignment to an element or an attribute, and to parts of a list."""
        p, name, e = self._new("p"), self._new(), self._simple(scope, 4)
        made, changes, use = self.random.choice(
            (
                (
                    f"[{e[0]}, {e[1]}]",
                    [
                        "{p}[0] *= {e}",
                        "{p}[-1] += {e}",
                        "{p}[:] = [{e}, {e}]",
                        "{p}[1:] = [{e}]",
                        "{p}.extend([{e}])",
                        "{p}.reverse()",
                        "{p}[n % 2] = {e}",
                        "{p}.insert(0, {e})",
                        "{p}.append({p}.pop())",
                        "{p}.append({p}.pop(0))",
                        "*{p}, _ = [{e}, *{p}]",
                        "{p}[-1:] = [{e}, {e}]",
                        "{p}[:n] = []; {p}.append({e})",
                        "{p} = {p} * 2",
                        "{p} = {p}[::-1]",
                        "{p} += ({e},)",
                        "del {p}[0]",
                        "{p}[0], {p}[1] = {p}[1], {p}[0]",
                    ],
                    [
                        "{p}[0]",
                        "{p}[-1]",
                        "{p}.pop()",
                        "{p}.pop(0) + {p}[-1] * 0.5",
                        "{p}.pop() * {p}.pop()",
                        "{p}[n % 2]",
                    ],
                ),
                (
                    f"{{'p': {e[0]}, 'q': {e[1]}}}",
                    [
                        "{p}['p'] *= {e}",
                        "{p}.setdefault('p', {e})",
                        "{p}.setdefault('z', {e})",
                        "{p} = {{**{p}, 'p': {e}}}",
                        "{p}['p' if flag else 'q'] = {e}",
                        "{p} = dict({p}, q={e})",
                        "{p} = {{u: t * 0.5 for u, t in {p}.items()}}",
                        "{p}['q'] = {p}.pop('p'); {p}['p'] = {e}",
                        "{p}.update({{'q': {e}}})",
                    ],
                    [
                        "{p}['p']",
                        "{p}['q']",
                        "{p}.get('p')",
                        "{p}.get('z', {e})",
                        "list({p}.values())[0]",
                        "{p}.get('q', 1.0)",
                        "[u for _, u in {p}.items()][0]",
                        "{{j: u * 2.0 for j, u in {p}.items()}}['p']",
                    ],
                ),
                (
                    "Config()",
                    [
                        "{p}.gain *= {e}",
                        "setattr({p}, 'gain', {e})",
                        "{p} = dataclasses.replace({p}, gain={e})",
                        "{p}.gain, {p}.share = {p}.share, {p}.gain",
                    ],
                    [
                        "{p}.gain",
                        "{p}.share * 1.0",
                        "getattr({p}, 'gain')",
                        "getattr({p}, 'lost', {e})",
                        "vars({p})['gain']",
                    ],
                ),
            )
        )
        lines = [
            f"{p} = {made}",
            *self._sometimes(self.random.choice(changes).format(p=p, e=e[2])),
            f"{name} = {self.random.choice(use).format(p=p, e=e[3])}",
        ]
        return self._bound(scope, lines, name)

    def structured(self, scope: Any) -> list[str]:
        """Named tuples, dicts made of pairs or merged, structures that tf.nest goes through."""
        p, name, e = self._new("p"), self._new(), self._simple(scope, 4)
        made, changes, use = self.random.choice(
            (
                (
                    f"Pair({e[0]}, scale={e[1]})",
                    [
                        "{p} = {p}._replace(mean={e})",
                        "{p} = Pair(*{p})",
                        "{p} = Pair({p}.scale, {p}[0])",
                        "{p} = tf.nest.map_structure(lambda t: t * 0.5, {p})",
                        "{p} = Pair({p}.mean, {e})",
                        "{p} = Pair({e}) if flag else {p}",
                        "{p} = Pair(**{p}._asdict())",
                    ],
                    [
                        "{p}.mean",
                        "{p}[1]",
                        "{p}.scale * 1.0",
                        "[t for t in {p}][0]",
                        "{p}._asdict()['mean']",
                        "(lambda mean, scale: scale)(*{p})",
                        "sum(t * 1.0 for t in {p}._replace(scale={e}))",
                    ],
                ),
                (
                    f"collections.OrderedDict([('p', {e[0]}), ('q', {e[1]})])",
                    [
                        "{p} = {p} | {{'q': {e}}}",
                        "{p} = dict(zip(['p', 'q'], [{e}, {p}['p']]))",
                        "{p} = dict(sorted({p}.items()))",
                        "{p} = {p}.copy(); {p}['p'] = {e}",
                        "{p}['q' if n else 'p'] = {e}",
                        "{p} = tf.nest.map_structure(tf.abs, dict({p}))",
                    ],
                    [
                        "{p}['p']",
                        "{p}['q'] * 0.5",
                        "sum(t * 1.0 for t in {p}.values())",
                        "tf.nest.flatten({p})[0]",
                        "[{p}[u] for u in {p}][0]",
                        "{p}.setdefault('p', {e})",
                        "{p}.pop('q')",
                    ],
                ),
                (
                    "{}",
                    [
                        f"for u, t in zip('pqr', [{e[0]}, {e[1]}]): {{p}}[u] = t * 0.5",
                        f"for u in 'pq': {{p}}[u] = {e[0]}",
                    ],
                    [
                        "sum(t * 1.0 for t in {p}.values()) + 0.0",
                        "{p}['p'] if {p} else {e}",
                        "[u for _, u in sorted({p}.items(), key=lambda t: t[0])][0] if {p} else {e}",
                        "functools.reduce(lambda s, t: s * t, [*{p}.values(), {e}, {e}])",
                    ],
                ),
            )
        )
        change = self.random.choice(changes).format(p=p, e=e[2])
        lines = [
            f"{p} = {made}",
            *([change] if change.startswith("for ") else self._sometimes(change)),
            f"{name} = {self.random.choice(use).format(p=p, e=e[3])}",
        ]
        return self._bound(scope, lines, name)

    def nested_loops(self, scope: Any) -> list[str]:
        """Loops in loops that are left or gone on with, and loops that only a `break` ends."""
        i, j, got, e = self._new("i"), self._new("i"), self._new(), self._simple(scope, 4)
        test = self.fill(scope, self.random.choice(CONDITIONS))
        word = self.random.choice(("break", "continue", "break"))
        lines = self.random.choice(
            (
                [
                    f"{got} = {e[0]}",
                    f"for {i} in range(3):",
                    f"    for {j} in range({i}):",
                    f"        if {test}:",
                    f"            {word}",
                    f"        {got} = {e[1]}",
                    f"        reveal({got})",
                    "    else:",
                    f"        {got} = {e[2]}",
                    f"    reveal({got})",
                ],
                [
                    f"{i} = 0",
                    f"{got} = {e[0]}",
                    "while True:",
                    f"    {i} += 1",
                    f"    if {i} > 3 or {test}:",
                    "        break",
                    f"    {got} = {got} * 0.5",
                    f"    reveal({got})",
                ],
                [
                    f"{i} = 4",
                    f"{got} = {e[0]}",
                    f"while {i}:",
                    f"    {i} -= 1",
                    f"    if {i} % 2:",
                    "        continue",
                    f"    {got} = {e[1]}",
                    "else:",
                    f"    reveal({i})",
                ],
                [
                    f"{got} = {e[0]}",
                    f"for {i} in range(3):",
                    "    try:",
                    f"        if {test}:",
                    f"            {word}",
                    f"        {got} = {e[1]}",
                    "    finally:",
                    f"        {got} = {got} + 1.0",
                ],
                [
                    f"{got} = None",
                    f"for {i} in range(3):",
                    f"    {got} = {e[0]} if {got} is None else {got} + {e[1]}",
                    f"    reveal({got})",
                ],
                [
                    f"{got} = last = {e[0]}",
                    f"for {i} in range(3):",
                    f"    last, {got} = {got}, {e[1]}",
                    "    reveal(last)",
                    f"    if {test}:",
                    f"        {got} = last",
                ],
            )
        )
        return self._bound(scope, lines, got)

    def captured(self, scope: Any) -> list[str]:
        """Functions that hold on to names: made by functions or in a loop, called after the name
        has changed, partial.
        """
        f, g, name, e = self._new("f"), self._new("g"), self._new(), self._simple(scope, 3)
        x = self.fill(scope, "{x}")
        lines = self.random.choice(
            (
                [
                    f"def {f}(s):",
                    "    def inner(t):",
                    "        reveal(s)",
                    "        return t * s",
                    "    return inner",
                    f"{g} = {f}({e[0]})",
                    f"{name} = {g}({x})",
                ],
                [
                    f"{g} = {e[0]}",
                    f"{f} = lambda t: t + {g}",
                    f"{g} = {e[1]}",
                    f"{name} = {f}({x})",
                ],
                [f"{f} = [lambda t: t * j for j in (1.0, -2.0, 3.0)]", f"{name} = {f}[0]({x})"],
                [
                    f"{f} = [lambda t, j=j: t * j for j in (1.0, -2.0, 3.0)]",
                    f"{name} = {f}[0]({x})",
                ],
                [
                    f"{f} = functools.partial(tf.clip_by_value, clip_value_min=-1.0)",
                    f"{g} = functools.partial({f}, clip_value_max={self.random.choice(CONSTANTS[:-1])})",
                    f"{name} = {g}({x})",
                ],
                [
                    f"{g} = []",
                    f"def {f}(t):",
                    f"    {g}.append(t)",
                    f"    return len({g})",
                    f"{f}({e[0]})",
                    f"{f}({e[1]})",
                    f"{name} = {g}[-1] * 1.0",
                ],
                [
                    f"def {f}(t, u=None, *rest, **options):",
                    "    if u is None:",
                    "        u = tf.abs(t)",
                    "    reveal(u)",
                    "    return t + u + options.get('more', 0.0)",
                    f"{name} = {f}({x}{self.random.choice(['', f', {e[0]}', ', more=2.0'])})",
                ],
                [
                    f"def {f}(t, into=[]):",
                    "    into.append(t)",
                    "    reveal(into[0])",
                    "    return into[0]",
                    f"{f}({e[0]})",
                    f"{name} = {f}({x})",
                ],
                [
                    f"def {f}(t):",
                    "    if isinstance(t, (int, float)):",
                    "        return t + 1.0",
                    "    if isinstance(t, list):",
                    "        return t[0]",
                    "    return tf.nn.relu(t)",
                    f"{name} = {f}({self.random.choice([x, '2.0', f'[{x}]'])})",
                ],
                [
                    f"def {f}(t, n):",
                    "    while n > 0:",
                    "        t, n = tf.abs(t) - 1.0, n - 1",
                    "        if tf.reduce_any(t > 2.0):",
                    "            return t",
                    "        reveal(t)",
                    "    return -t",
                    f"{name} = {f}({x}, n)",
                ],
                [
                    f"{f} = {{'a': lambda t: t + 1.0, 'b': tf.nn.relu}}.get('b' if flag else 'a')",
                    f"{name} = {f}({x})",
                ],
                [
                    f"{name} = functools.reduce(lambda s, t: tf.maximum(s, t), [{x}, {e[0]}, {e[1]}])"
                ],
                [
                    f"{f} = lambda t, u=2.0: reveal(t) * u",
                    f"{name} = {f}({x}) + 0.0",
                    f"{f}({e[0]}, 3.0)",
                ],
                [
                    f"{g} = lambda t: {f}(t) * 1.0",
                    f"{f} = lambda t: reveal(t)",
                    f"{f}({e[0]})",
                    f"{name} = {g}({x})",
                ],
                [
                    f"{name} = list(map(lambda t, u: reveal(t) * 1.0, [{x}, {e[0]}], [1.0, 2.0]))[-1]"
                ],
                [f"{name} = keras.layers.Lambda(lambda t: reveal(t) * 1.0)({x})"],
                [
                    f"def {f}(t, act=None):",
                    "    if callable(act):",
                    "        return act(t)",
                    "    return t if act in (None, 'none') else getattr(tf.nn, act)(t)",
                    f"{name} = {f}({x}{self.random.choice(['', ', tf.tanh', ', lambda t: tf.abs(t)'])})",
                    f"{g} = {f}({e[0]}, 'softplus')",
                    f"reveal({g})",
                ],
                [
                    f"{f} = lambda *ts, **us: ts[-1] * us.get('k', 0.5)",
                    f"{name} = {f}({e[0]}, {x}{self.random.choice(['', ', k=3.0'])})",
                ],
                [
                    f"def {f}(t, *, low=0.0, high=1.0):",
                    "    low, high = min(low, high), max(low, high)",
                    "    reveal(low)",
                    "    return tf.clip_by_value(t, low, high)",
                    f"{name} = {f}({x}, **{{'low': {self.random.choice(CONSTANTS[:-1])}}})",
                ],
            )
        )
        return self._bound(scope, lines, name)

    def comprehended(self, scope: Any) -> list[str]:
        """Comprehensions with tests, in one another, over several lists; what zip, sorted and
        slices hand on.
        """
        name, parts = self._new(), self._new("parts")
        e, c = self._simple(scope, 3), self.random.choice(CONSTANTS[:-1])
        use = self.random.choice(
            (
                "[t for t in {p} if tf.reduce_sum(t) > {c}] or [0.5]",
                "[s * t for s in {p} for t in (1.0, -1.0)]",
                "[t if flag else -t for t in {p}]",
                "[[t, -t][1] for t in {p}]",
                "[u for t in {p} for u in [t, t * 2.0]]",
                "[s + t for s, t in zip({p}, {p}[1:])]",
                "{p}[1:] + {p}[:1]",
                "[tf.nn.relu(t) for t in {p}[::-1]]",
                "list(zip(*[{p}, {p}]))[0]",
                "[(j, t)[1] for j, t in enumerate({p}, 1)]",
                "[t for j, t in enumerate({p}) if j != 1]",
                "sorted({p}, key=lambda t: float(tf.reduce_sum(t)))",
                "[{p}[j] for j in range(len({p}))]",
                "[*{p}, {c}]",
                "list(filter(lambda t: tf.reduce_all(t > {c}), {p})) or [{c}]",
                "tuple(t * {c} for t in {p})",
                "list(map(lambda s, t: s - t, {p}, {p}[::-1]))",
                "[v := {p}[0], v * 2.0]",
                "list({{j: t for j, t in enumerate({p})}}.values())",
                "({p} * 2)[2:]",
            )
        )
        lines = [
            f"{parts} = [{', '.join(e)}]",
            f"{parts} = {use.format(p=parts, c=c)}",
            f"{name} = {parts}[{self.random.choice(('0', '-1', 'n % len(' + parts + ')'))}]",
            f"for t in {parts}:",
            "    reveal(t)",
        ]
        return self._bound(scope, lines, name)

    def context(self, scope: Any) -> list[str]:
        """A gradient, a context of the program's own, `else` of a try, an exception from a called
        function.
        """
        name, g = self._new(), self._new()
        x, e = self.fill(scope, "{x}"), self._simple(scope, 3)
        test = self.fill(scope, self.random.choice(CONDITIONS))
        lines = self.random.choice(
            (
                [
                    "with tf.GradientTape() as tape:",
                    f"    tape.watch({x})",
                    f"    {name} = {e[0]}",
                    f"{g} = tape.gradient({name}, {x})",
                    f"{g} = {x} if {g} is None else tf.where(tf.math.is_finite({g}), {g}, tf.zeros_like({g}))",
                    f"reveal({g})",
                ],
                [
                    f"{name} = {e[0]}",
                    "try:",
                    f"    if {test}:",
                    "        raise KeyError",
                    f"    {name} = {e[1]}",
                    "except (ValueError, KeyError):",
                    "    pass",
                    "else:",
                    f"    {name} = {e[2]}",
                    "finally:",
                    f"    reveal({name})",
                ],
                [
                    f"def {g}(t):",
                    f"    if {test}:",
                    "        raise ValueError('no')",
                    "    return t",
                    "try:",
                    f"    {name} = {g}({e[0]})",
                    "except ValueError as error:",
                    f"    {name} = {e[1]}",
                ],
                [
                    f"{name} = {e[0]}",
                    "with contextlib.suppress(ValueError):",
                    f"    {name} = {e[1]}",
                    f"    if {test}:",
                    "        raise ValueError",
                    f"    {name} = {e[2]}",
                ],
                [
                    f"{name} = {e[0]}",
                    "with scaled(2.0) as factor:",
                    f"    {name} = {name} * factor",
                    f"    reveal({name})",
                ],
                [
                    f"{name} = tf.stop_gradient({e[0]})",
                    f"with tf.control_dependencies([tf.debugging.assert_greater({x}, tf.cast(-1e9, {x}.dtype))]):",
                    f"    {name} = tf.identity({name})",
                ],
            )
        )
        return self._bound(scope, lines, name)

    # Definitions of the module

    def counter(self, scope: Any) -> list[str]:
        """A global that functions change, and a class whose attributes change: of the class, by a
        setter, through an operator.
        """
        name, inner = self._new("Held"), self._function_scope(["t"])
        e = [self.expression(inner, ["t"], simple=True) for _ in range(4)]
        lines = [
            f"_state{name} = 0.5",
            "",
            "",
            f"def set_{name}(t):",
            f"    global _state{name}",
            f"    _state{name} = {e[0]}",
            f"    return _state{name}",
            "",
            "",
            f"def get_{name}():",
            f"    reveal(_state{name})",
            f"    return _state{name}",
            "",
            "",
            f"class {name}:",
            "    count = 0",
            "    history = []",
            "",
            "    def __init__(self, t):",
            "        self._t = t",
            f"        {name}.count += 1",
            "        self.history.append(t)",
            "",
            "    @property",
            "    def t(self):",
            "        return self._t",
            "",
            "    @t.setter",
            "    def t(self, value):",
            f"        self._t = {self.random.choice(('tf.nn.relu(value)', 'value', 'value * 2.0'))}",
            "",
            "",
            "    def __add__(self, other):",
            f"        return {name}(self._t + other)",
            "",
            "    def __getitem__(self, index):",
            "        return [self._t, -self._t][index]",
            "",
            "    def __len__(self):",
            "        return 2",
            "",
            "    def stepped(self, n):",
            "        for _ in range(n):",
            "            self._t = tf.abs(self._t) * 0.5",
            "        reveal(self._t)",
            "        return self",
            "",
            "    def first(self):",
            "        reveal(self.count)",
            "        reveal(self.history[0])",
            "        return self.history[0]",
        ]
        self._define(
            lines,
            f"({name}({{x}}) + {{y}}).t",
            f"{name}({{x}})[1]",
            f"{name}({{x}})[0]",
            f"{name}({{x}}).stepped(n).t",
            f"{name}({{x}}).stepped(2)._t",
            f"{name}({{x}}).first()",
            f"set_{name}({{x}})",
            f"get_{name}() * 1.0",
            f"{name}.count * 1.0",
            f"(lambda o: (setattr(o, 't', {{y}}), o.t)[1])({name}({{x}}))",
        )
        return []

    def layer_with_weights(self, scope: Any) -> list[str]:
        """A layer that makes its own weights, with initial values and constraints, and a
        metric-like total.
        """
        name, inner = self._new("Own"), self._function_scope(["t"])
        e = [self.expression(inner, ["t"], simple=True) for _ in range(2)]
        start = self.random.choice(
            (
                "'zeros'",
                "'ones'",
                "'glorot_uniform'",
                "keras.initializers.Constant(0.5)",
                "keras.initializers.RandomUniform(0.1, 0.2)",
                "tf.ones_initializer()",
            )
        )
        held = self.random.choice(
            (
                "None",
                "'non_neg'",
                "keras.constraints.NonNeg()",
                "keras.constraints.UnitNorm()",
                "lambda w: tf.clip_by_value(w, 0.1, 2.0)",
            )
        )
        trained = self.random.choice(("True", "False"))
        lines = [
            f"class {name}(keras.layers.Layer):",
            "    def build(self, shape):",
            f"        self.scale = self.add_weight(shape=(shape[-1], 2), initializer={start}, constraint={held}, trainable={trained})",
            "        self.total = self.add_weight(shape=(), initializer='zeros', trainable=False)",
            "",
            "    def call(self, t):",
            "        reveal(self.scale)",
            "        reveal(self.total)",
            f"        self.total.assign_add(tf.reduce_sum({self.random.choice(['t', 'tf.abs(t)', 't * t'])}))",
            "        reveal(self.total)",
            f"        held = {e[0]}",
            "        reveal(held)",
            "        return tf.matmul(t, self.scale)",
        ]
        self._define(
            lines,
            f"{name}()({{m}})",
            f"tf.nn.relu({name}()({{m}}))",
            f"keras.Sequential([{name}(), keras.layers.Dense(2, activation='softmax')])({{m}})",
        )
        return []

    def guarded(self, scope: Any) -> list[str]:
        """A function that leaves early where its argument does not suit."""
        name, inner = self._new("guarded"), self._function_scope(["t"])
        test = self.fill(
            inner,
            self.random.choice(
                (
                    "tf.reduce_any({x} <= 0)",
                    "tf.reduce_min({x}) < {c}",
                    "not tf.reduce_all({x} > {c})",
                    "{x} is None",
                    "tf.reduce_any(tf.math.is_nan({x}))",
                    "tf.reduce_max({x}) >= {c} or tf.reduce_any({x} == 0)",
                )
            ),
        )
        leaving = self.random.choice(
            (f"return {self.expression(inner, simple=True)}", "raise ValueError", "return 0.0")
        )
        lines = [
            f"def {name}(t):",
            f"    if {test}:",
            f"        {leaving}",
            "    reveal(t)",
            f"    u = {self.expression(inner, ['t'], simple=True)}",
            "    reveal(u)",
            "    return u",
        ]
        self._define(lines, f"{name}({{x}})", f"{name}(tf.abs({{x}}) + {{c}})")
        return []

    def generator(self, scope: Any) -> list[str]:
        name, inner = self._new("pieces"), self._function_scope(["t"])
        e = [self.expression(inner, ["t"], simple=True) for _ in range(3)]
        body = self.random.choice(
            (
                ["for j in range(3):", f"    t = {e[0]}", "    yield t"],
                [f"yield from [{e[0]}, {e[1]}]", f"yield {e[2]}"],
                [f"got = yield {e[0]}", f"yield {e[1]}"],
                ["if tf.reduce_any(t > 0):", f"    yield {e[0]}", f"yield {e[1]}", "return"],
                ["while True:", f"    yield {e[0]}"],
            )
        )
        self._define(
            [f"def {name}(t):", *indented(body)],
            f"next({name}({{x}}))",
            f"next(iter({name}({{x}})))",
            f"[u for u, _ in zip({name}({{x}}), range(2))][-1]",
        )
        return []

    def optioned(self, scope: Any) -> list[str]:
        """A function whose tests are decided by what a call hands over, called with `*`, with `**`
        and with constants, and one that passes it on.
        """
        name, inner = self._new("optioned"), self._function_scope(["t"])
        e = [self.expression(inner, ["t"], simple=True) for _ in range(6)]
        tests = [
            self.random.choice(
                (
                    "floor is None",
                    "floor is not None",
                    "not on",
                    "on",
                    "how == 'sum'",
                    "how != 'none'",
                    "on and floor is not None",
                    "not (on or how == 'none')",
                    "floor is None or on",
                    "how",
                    "options.get('on')",
                    "rest",
                    "floor == 0.5",
                    "floor == None",
                    "on is True",
                    "how is None",
                )
            )
            for _ in range(4)
        ]
        lines = [
            f"def {name}(t, floor=None, *rest, on=False, how='sum', **options):",
            "    reveal(t)",
            f"    v = {e[0]}",
            f"    if {tests[0]}:",
            f"        v = {e[1]}",
            "    else:",
            f"        v = tf.abs({e[2]}) if floor is None else tf.abs({e[2]}) + floor * 0.0",
            "    reveal(v)",
        ]
        lines += self.random.choice(
            (
                [f"    if {tests[1]}:", f"        v = {e[3]}"],
                [f"    while {tests[1]}:", f"        v = {e[3]}", "        break"],
                [f"    if {tests[1]}:", f"        return {e[3]}"],
                [
                    f"    how = how if {tests[3]} else None",
                    f"    if {tests[1]}:",
                    f"        v = {e[3]}",
                ],
            )
        )
        lines += [
            f"    w = {e[4]} if {tests[2]} else {e[5]}",
            "    reveal(w)",
            f"    return {self.random.choice(('v', 'w', '(v, w)[0]'))}",
        ]
        on = self.random.choice(("True", "False", "flag"))
        lines += [
            "",
            "",
            f"def pass_{name}(t, floor=None, on=False, **options):",
            f"    return {name}(t, floor, on=on, **options)",
        ]
        self._define(
            lines,
            f"{name}({{x}})",
            f"{name}({{x}}, 0.5)",
            f"{name}({{x}}, floor={{c}})",
            f"{name}({{x}}, on={on})",
            f"{name}({{x}}, how='none', on={on})",
            f"{name}({{x}}, *[{{c}}])",
            f"{name}({{x}}, *([0.5] if flag else []))",
            f"{name}({{x}}, **({{{{'on': True}}}} if flag else {{{{}}}}))",
            f"{name}({{x}}, **dict(how='none', floor={{c}}))",
            f"pass_{name}({{x}}, {{c}})",
            f"pass_{name}({{x}}, on={on}, how='none')",
            f"pass_{name}({{x}}, **dict(on=True))",
            f"functools.partial({name}, floor={{c}})({{x}}, **dict(on=flag))",
        )
        return []

    def configured(self, scope: Any) -> list[str]:
        """A class whose objects keep what they are made with, by which their methods decide;
        another one holds two of them.
        """
        name, inner = self._new("Set"), self._function_scope(["t"])
        e = [self.expression(inner, ["t"], simple=True) for _ in range(6)]
        tests = [
            self.random.choice(
                (
                    "self.floor is None",
                    "self.floor is not None",
                    "self.on",
                    "not self.on",
                    "self.how == 'sum'",
                    "self.how != 'none' and self.on",
                    "self.act is None",
                    "self.on is True",
                    "self.fixed",
                    "self.floor == 0.5",
                    "not self.floor",
                )
            )
            for _ in range(4)
        ]
        stored = self.random.choice(
            (
                "self.floor = floor",
                "floor = floor",
                "if floor == 0.5:\n            floor = None",
                "self.on = False",
                "on = on and t is not None",
            )
        )
        lines = [
            f"class {name}:",
            "    act = None",
            "",
            "    def __init__(self, t, floor=None, *, on=False, how='sum', act=tf.abs):",
            f"        {stored}",
            "        self.t, self.floor = t, floor"
            if self.random.random() < 0.2
            else "        self.floor = floor",
            "        self.on = on",
            "        self.how = how",
            "        self.act = act",
            "        self.fixed = True",
            *self.random.choice(
                (
                    [],
                    ["        if how == 'none':", "            self.on = True"],
                    ["        self.change(t)"],
                )
            ),
            "",
            "    def change(self, t):",
            *self.random.choice(
                (["        return t"], ["        self.on = not self.on", "        return t"])
            ),
            "",
            "    def use(self, t):",
            "        return self(t) + 0.0",
            "",
            "    def __call__(self, t):",
            "        reveal(t)",
            f"        v = {e[0]}",
            f"        if {tests[0]}:",
            f"            v = {e[1]}",
            "        reveal(v)",
            f"        if {tests[1]}:",
            f"            return {e[2]}",
            f"        w = {e[3]} if {tests[2]} else {e[4]}",
            "        reveal(w)",
            f"        return v * self.floor if {tests[3]} and self.floor else self.act(w) if self.act else w",
        ]
        child, holder = self._new("Child"), self._new("Holder")
        lines += [
            "",
            "",
            f"class {child}({name}):",
            "    def __init__(self, t, on=True, **options):",
            "        super().__init__(t, on=on, **options)",
            *self.random.choice(([], ["        self.floor = 0.25"], ["        self.how = 'none'"])),
        ]
        lines += [
            "",
            "",
            f"class {holder}:",
            "    def __init__(self, t, floor=0.5, on=False):",
            f"        self.one = {name}(t, floor, on=on)",
            f"        self.two = {name}(t, on=on, how='none')",
            "",
            "    def both(self, t):",
            "        reveal(self.one(t))",
            "        return self.one(t) + self.two.use(t)",
        ]
        on = self.random.choice(("True", "False", "flag"))
        self._define(
            lines,
            f"{name}({{x}})({{y}})",
            f"{name}({{x}}, 0.5)({{y}})",
            f"{name}({{x}}, floor={{c}}, on={on}).use({{y}})",
            f"{name}({{x}}, how='none', act=None)({{y}})",
            f"{name}({{x}}, {{c}}, act=tf.sigmoid)({{y}})",
            f"{name}({{x}}, **dict(on={on}, floor={{c}}))({{y}})",
            f"{child}({{x}})({{y}})",
            f"{child}({{x}}, on={on}, floor={{c}}).use({{y}})",
            f"{holder}({{x}}).both({{y}})",
            f"{holder}({{x}}, {{c}}, on={on}).both({{y}})",
            f"{holder}({{x}}, on=True).one({{y}})",
            f"[{name}({{x}}, on=True), {name}({{x}}, {{c}})][{self.random.randrange(2)}]({{y}})",
            f"({name}({{x}}, on=True) if flag else {name}({{x}}, 0.5))({{y}})",
        )
        return []

    MORE = (
        variable,
        variable,
        in_place,
        in_place,
        of_array,
        of_array,
        of_array,
        item_augmented,
        item_augmented,
        item_augmented,
        structured,
        structured,
        structured,
        nested_loops,
        nested_loops,
        captured,
        captured,
        captured,
        comprehended,
        comprehended,
        context,
        context,
    )
    MORE_DEFINITIONS = (
        guarded,
        guarded,
        generator,
        counter,
        layer_with_weights,
        optioned,
        optioned,
        configured,
        configured,
    )
