"""Two softmaxes of different logits in one scope, before and after both are fixed: as a file and as
the cells of a notebook.
"""

DISTILLATION = """import tensorflow as tf


def loss(student, teacher, x):
    p = tf.nn.softmax(teacher(x))
    q = tf.nn.softmax(student(x))
    terms = p * (tf.math.log(p) - tf.math.log(q))
    return tf.reduce_sum(terms)
"""
DISTILLED = """import tensorflow as tf


def loss(student, teacher, x):
    p_logits = teacher(x)
    p = tf.nn.softmax(p_logits)
    q_logits = student(x)
    q = tf.nn.softmax(q_logits)
    terms = p * (tf.nn.log_softmax(p_logits) - tf.nn.log_softmax(q_logits))
    return tf.reduce_sum(terms)
"""

CELLS = [
    "import tensorflow as tf\nhead = tf.keras.layers.Dense(3)",
    "p = tf.nn.softmax(head(x))\na = tf.math.log(p) * p",
    "q = tf.nn.softmax(head(z))\nb = tf.math.log(q) * q",
]
NAMED = [
    "p_logits = head(x)\np = tf.nn.softmax(p_logits)\na = tf.nn.log_softmax(p_logits) * p",
    "q_logits = head(z)\nq = tf.nn.softmax(q_logits)\nb = tf.nn.log_softmax(q_logits) * q",
]
