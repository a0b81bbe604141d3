"""Compile TorchScript from a string.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    text = "def answer(q, k, v):\n    return torch.nn.functional.scaled_dot_product_attention(q, k, v)\n"
    return torch.jit.CompilationUnit(text).answer(q, k, v)
