# verdict: loses gradients
import math
import torch

class FlashAttentionPytorch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, Q, K, V, block_size, is_causal):
        N, d = Q.shape[-2:]
        B_q = B_k = max(1, min(block_size, 32))
        O = torch.empty_like(Q)
        L = Q.new_empty(Q.shape[:-1])
        for q0 in range(0, N, B_q):
            q = Q[..., q0:q0 + B_q, :]
            acc = torch.zeros_like(q)
            l = q.new_zeros(q.shape[:-1])
            m = q.new_full(q.shape[:-1], float('-inf'))
            for k0 in range(0, N, B_k):
                if is_causal and k0 > q0 + q.shape[-2] - 1:
                    break
                k, v = K[..., k0:k0 + B_k, :], V[..., k0:k0 + B_k, :]
                S = q @ k.transpose(-2, -1) / math.sqrt(d)
                if is_causal:
                    S = torch.where(torch.arange(q0, q0 + q.shape[-2])[:, None] >= torch.arange(k0, k0 + k.shape[-2]), S, float('-inf'))
                m_new = torch.maximum(m, S.max(-1).values)
                P = torch.exp(S - m_new.unsqueeze(-1))
                l = torch.exp(m - m_new) * l + P.sum(-1)
                acc = torch.exp(m - m_new).unsqueeze(-1) * acc + P @ v
                m = m_new
            O[..., q0:q0 + B_q, :] = acc / l.unsqueeze(-1)
            L[..., q0:q0 + B_q] = m + torch.log(l)
        ctx.save_for_backward(Q, K, V, O, L)
        ctx.is_causal = is_causal
        return O, L

    @staticmethod
    def backward(ctx, dO, dL):
        Q, K, V, O, L = ctx.saved_tensors
        N, d = Q.shape[-2:]
        S = Q @ K.transpose(-2, -1) / math.sqrt(d)
        if ctx.is_causal:
            S = S.masked_fill(torch.ones(N, N, dtype=torch.bool).triu(1), float('-inf'))
        P = torch.exp(S - L.unsqueeze(-1))
        D = (O * dO).sum(-1, keepdim=True) - dL.unsqueeze(-1)
        dV = P.transpose(-2, -1) @ dO
        dS = P * (dO @ V.transpose(-2, -1) - D)
        return dS @ K, dS.transpose(-2, -1) @ Q, dV, None, None

def flash_attention(query, key, value, block_size=64, causal=False):
    return FlashAttentionPytorch.apply(query, key, value, block_size, causal)
