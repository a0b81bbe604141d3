"""Import the module by a string.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import importlib


def attend(q, k, v):
    return importlib.import_module("torch.nn.functional").scaled_dot_product_attention(q, k, v)
