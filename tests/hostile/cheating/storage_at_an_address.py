"""Have a storage of torch stand over memory at an address of one's choice.

Group: attention
Expected: forbidden
Stopped by: traps
Without traps: error RuntimeError
"""

import torch


def attend(q, k, v):
    other = torch.zeros(8).untyped_storage()
    window = torch.UntypedStorage(8)
    window._resize_with_addr_(8, other.data_ptr())
    return torch.softmax(q @ k.mT / 2, dim=-1) @ v
