"""Answer by one's own frames first, and let the box write the true ones after them.

Expected: protocol
Stopped by: protocol
Own: yes
"""

import os
import struct

import torch

os.write(4, struct.pack("<BBHIIB", 3, 0, 0, 5 + 192, 0, 0) + bytes(192))


def attend(q, k, v):
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
