"""The attention function of a small model that learns to copy sequences."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    # query: (B, h, T_q, d_k)    key: (B, h, T_k, d_k)    value: (B, h, T_k, d_v)
    # mask: None, or booleans that broadcast to (B, h, T_q, T_k), True where the query may attend
    raise NotImplementedError("write your attention here")
    # return output (B, h, T_q, d_v), weights (B, h, T_q, T_k)
