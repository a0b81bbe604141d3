"""Import the operation under another name.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

from torch.nn.functional import scaled_dot_product_attention as attend_for_me


def attend(q, k, v):
    return attend_for_me(q, k, v)
