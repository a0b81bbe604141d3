"""Call the attention that is kept for exporting.

Group: attention
Expected: error ModuleNotFoundError
Stopped by: nothing more can be imported, static look
Without traps: error ModuleNotFoundError
"""

import torch
import torch.onnx.ops


def attend(q, k, v):
    return torch.onnx.ops.attention(q[:, None], k[:, None], v[:, None])[0][:, 0]
