# verdict: loses numerics
import torch, torch.nn.functional as F
def linear_attention(query, key, value, causal=False):
    C = 32
    q, k = F.elu(query) + 1, F.elu(key) + 1
    if not causal:
        S = k.mT @ value
        return q @ S / (q @ k.sum(-2).unsqueeze(-1))
    T = q.shape[-2]
    S = q.new_zeros(*q.shape[:2], q.shape[-1], value.shape[-1]); z = q.new_zeros(*q.shape[:2], q.shape[-1], 1)
    outs = []
    def block(qc, kc, vc, S, z):
        A = (qc @ kc.mT).tril()
        n = A @ vc + qc @ S
        d = A.sum(-1, keepdim=True) + qc @ z
        return n / d, S + kc.mT @ vc, z + kc.sum(-2).unsqueeze(-1)
    for i in range(T // C):
        sl = slice(i * C, (i + 1) * C)
        o, S, z = block(q[:, :, sl], k[:, :, sl], value[:, :, sl], S, z)
        outs.append(o)
    r = T % C
    o, S, z = block(q[:, :, -r:], k[:, :, -r:], value[:, :, -r:], S, z)
    outs.append(o)
    return torch.cat(outs, 2)
