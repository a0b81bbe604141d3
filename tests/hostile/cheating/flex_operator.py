"""Call the higher-order operator below that.

Group: attention
Expected: forbidden
Stopped by: traps, static look
Without traps: error ModuleNotFoundError
"""

from torch._higher_order_ops.flex_attention import flex_attention, sdpa_dense  # noqa: F401
from torch.nn.attention.flex_attention import _create_empty_block_mask


def attend(q, k, v):
    q, k, v = (one[:, None] for one in (q, k, v))
    mask = _create_empty_block_mask(q, k).as_tuple()
    return sdpa_dense(q, k, v, lambda score, *places: score, mask, 0.5, {}, (), ())[0][:, 0]
