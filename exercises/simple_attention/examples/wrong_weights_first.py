# verdict: loses shapes
# diagnosis: order_of_results
import torch.nn.functional as F


def simple_attention(x):
    w = F.softmax(x @ x.t(), dim=-1)
    return w, w @ x
