"""Find the objects that hold the traps, and destroy them.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

import gc

import torch
import torch.nn.functional as F


def attend(q, k, v):
    gc.unfreeze()
    for thing in gc.get_objects():
        if type(thing) is torch.library.Library:
            thing._destroy()
        elif type(thing).__name__ == "_DispatchModule":
            thing.reset()
    gc.collect()
    return F.scaled_dot_product_attention(q, k, v)
