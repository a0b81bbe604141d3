"""The same by the dispatcher's name.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch


def attend(q, k, v):
    return torch.ops.onnx.Attention.opset23(q[:, None], k[:, None], v[:, None])[0][:, 0]
