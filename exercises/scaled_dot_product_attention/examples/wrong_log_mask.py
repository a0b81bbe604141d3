# verdict: loses masking
# diagnosis: a_number_added_where_hidden
import math
import torch

def scaled_dot_product_attention(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = query @ key.transpose(-2, -1) / math.sqrt(d_k)
    if mask is not None:
        scores = scores + torch.log(mask + 1e-45)
    weights = torch.softmax(scores, dim=-1)
    return weights @ value, weights
