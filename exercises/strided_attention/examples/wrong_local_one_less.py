# verdict: loses numerics
import torch

def strided_attention(query, key, value, stride):
    B, h, T, d = query.shape
    out = []
    for i in range(T):
        near = list(range(max(0, i - stride + 2), i + 1))
        far = list(range(i - stride, -1, -stride))
        idx = torch.tensor(far + near)
        k = key.index_select(2, idx)
        v = value.index_select(2, idx)
        s = (query[:, :, i : i + 1] @ k.mT) / d**0.5
        out.append(torch.softmax(s, -1) @ v)
    return torch.cat(out, dim=2)
