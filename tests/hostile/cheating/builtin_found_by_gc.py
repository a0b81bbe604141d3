"""Search all objects for a dictionary that holds the builtin.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import gc


def attend(q, k, v):
    gc.unfreeze()
    name = "scaled_dot_product_attention"
    tables = (one for one in gc.get_objects() if type(one) is dict and callable(one.get(name)))
    return next(tables)[name](q, k, v)
