"""Scaled dot-product attention, with a mask."""

import torch


def scaled_dot_product_attention(query, key, value, mask=None):
    # query: (..., T_q, d_k)    key: (..., T_k, d_k)    value: (..., T_k, d_v)
    # mask: None, or booleans that broadcast to (..., T_q, T_k), True where the query may attend
    raise NotImplementedError("write your attention here")
    # return output (..., T_q, d_v), weights (..., T_q, T_k)
