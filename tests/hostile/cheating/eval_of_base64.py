"""Evaluate an encoded name.

Group: attention
Expected: forbidden
Stopped by: traps, static look, notices
"""

import base64

import torch.nn.functional as F  # noqa: F401


def attend(q, k, v):
    return eval(base64.b64decode("Ri5zY2FsZWRfZG90X3Byb2R1Y3RfYXR0ZW50aW9u"))(q, k, v)
