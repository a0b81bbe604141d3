# verdict: loses numerics
# diagnosis: cosines_for_products
import torch
import torch.nn.functional as F


def simple_attention(x):
    n = F.normalize(x, dim=-1)
    weights = (n @ n.T).softmax(dim=-1)
    return weights @ x, weights
