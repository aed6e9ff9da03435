"""Two softmaxes of different logits in one scope, before and after both are fixed: as a file and as
the cells of a notebook.
"""

DISTILLATION = """import tensorflow as tf


def loss(student, teacher, x):
    p = tf.nn.softmax(teacher(x))
    q = tf.nn.softmax(student(x))
    return tf.reduce_sum(p * (tf.math.log(p) - tf.math.log(q)))
"""
DISTILLED = """import tensorflow as tf


def loss(student, teacher, x):
    logits = teacher(x)
    p = tf.nn.softmax(logits)
    logits_2 = student(x)
    q = tf.nn.softmax(logits_2)
    return tf.reduce_sum(p * (tf.nn.log_softmax(logits) - tf.nn.log_softmax(logits_2)))
"""

CELLS = [
    "import tensorflow as tf\nhead = tf.keras.layers.Dense(3)",
    "p = tf.nn.softmax(head(x))\na = tf.math.log(p) * p",
    "q = tf.nn.softmax(head(z))\nb = tf.math.log(q) * q",
]
NAMED = [
    "logits = head(x)\np = tf.nn.softmax(logits)\na = tf.nn.log_softmax(logits) * p",
    "logits_2 = head(z)\nq = tf.nn.softmax(logits_2)\nb = tf.nn.log_softmax(logits_2) * q",
]
