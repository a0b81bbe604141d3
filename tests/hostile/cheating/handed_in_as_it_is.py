"""Hand in the operation itself, without a line of one's own.

Group: attention
Expected: forbidden
Stopped by: traps, static look
"""

from torch.nn.functional import scaled_dot_product_attention as attend  # noqa: F401
