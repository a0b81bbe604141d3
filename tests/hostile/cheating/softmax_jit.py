"""Compile TorchScript from a string.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return torch.jit.CompilationUnit("def answer(x):\n    return torch.softmax(x, -1)\n").answer(x)
