"""Answer by one's own frames first, and let the box write the true ones after them.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

import torch

TEXT = b'{"raised": null, "modified": [], "largest": null, "slots": ["float64"]}'
os.write(4, struct.pack("<BHII", 3, 0, len(TEXT), 192) + TEXT + bytes(192))


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
