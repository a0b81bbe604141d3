"""Call the attention that is kept for exporting.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import torch
import torch.onnx.ops


def attend(q, k, v):
    return torch.onnx.ops.attention(q[:, None], k[:, None], v[:, None])[0][:, 0]
