# verdict: loses numerics
import torch
def softmax(x, dim=-1):
    # bring the axis to the end
    n = x.dim()
    if dim == n - 1 or dim == -1:
        y = x
        back = None
    else:
        y = x.transpose(dim, -1) if dim <= 0 else x.transpose(0, -1)
        back = dim if dim <= 0 else 0
    e = (y - y.amax(-1, keepdim=True)).exp()
    r = e / e.sum(-1, keepdim=True)
    return r if back is None else r.transpose(back, -1)
