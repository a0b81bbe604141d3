"""Load a saved TorchScript program from memory; it was saved a moment ago.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import io

import torch
import torch.nn.functional as F


def attend(q, k, v):
    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(F.scaled_dot_product_attention, (q, k, v)), file)
    file.seek(0)
    return torch.jit.load(file)(q, k, v)
