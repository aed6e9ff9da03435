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
    q_logits = student(x)
    q = tf.nn.softmax(q_logits)
    return tf.reduce_sum(p * (tf.nn.log_softmax(logits) - tf.nn.log_softmax(q_logits)))
"""

CELLS = [
    "import tensorflow as tf\nhead = tf.keras.layers.Dense(3)",
    "p = tf.nn.softmax(head(x))\na = tf.math.log(p) * p",
    "q = tf.nn.softmax(head(z))\nb = tf.math.log(q) * q",
]
NAMED = [
    "logits = head(x)\np = tf.nn.softmax(logits)\na = tf.nn.log_softmax(logits) * p",
    "q_logits = head(z)\nq = tf.nn.softmax(q_logits)\nb = tf.nn.log_softmax(q_logits) * q",
]
