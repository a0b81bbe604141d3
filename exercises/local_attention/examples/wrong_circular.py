# verdict: loses numerics
import torch

def local_attention(q, k, v, w):
    b, h, t, d = q.shape
    w = min(w, t - 1)
    rel = torch.arange(-w, w + 1, device=q.device)
    idx = torch.arange(t, device=q.device)[:, None] + rel
    idx = idx % t
    k_n, v_n = k[:, :, idx], v[:, :, idx]
    att = (q[:, :, :, None, :] * k_n).sum(dim=-1) * (1.0 / d ** 0.5)
    att = torch.nn.functional.softmax(att, dim=-1)
    return torch.einsum("bhtw,bhtwd->bhtd", att, v_n)
