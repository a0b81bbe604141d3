"""Quantise them first.

Group: softmax
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def softmax(x):
    return (
        torch.ops.quantized.softmax(torch.quantize_per_tensor(x.float(), 0.02, 128, torch.quint8), -1, 1 / 256, 0)
        .dequantize()
        .double()
    )
