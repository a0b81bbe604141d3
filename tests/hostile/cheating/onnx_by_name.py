"""The same by the dispatcher's name.

Group: attention
Expected: error AttributeError
Stopped by: nothing more can be imported, static look
Without traps: error AttributeError
"""

import torch


def attend(q, k, v):
    return torch.ops.onnx.Attention.opset23(q[:, None], k[:, None], v[:, None])[0][:, 0]
