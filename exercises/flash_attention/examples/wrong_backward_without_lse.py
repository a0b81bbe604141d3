# verdict: loses gradients
# diagnosis: logarithm_detached
import torch


class Flash(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, size, causal):
        scale = q.shape[-1] ** -0.5
        outs, lses = [], []
        for i in range(0, q.shape[2], size):
            s = q[:, :, i : i + size] @ k.mT * scale
            if causal:
                s = s.masked_fill(torch.arange(k.shape[2]) > torch.arange(i, i + s.shape[2])[:, None], -torch.inf)
            outs.append(s.softmax(-1) @ v)
            lses.append(s.logsumexp(-1))
        o, lse = torch.cat(outs, 2), torch.cat(lses, 2)
        ctx.save_for_backward(q, k, v, o, lse)
        ctx.causal, ctx.scale = causal, scale
        return o, lse

    @staticmethod
    def backward(ctx, do, dlse):
        q, k, v, o, lse = ctx.saved_tensors
        s = q @ k.mT * ctx.scale
        if ctx.causal:
            s = s.masked_fill(torch.ones_like(s).triu(1).bool(), -torch.inf)
        p = torch.exp(s - lse[..., None])
        ds = p * (do @ v.mT - (do * o).sum(-1, keepdim=True)) * ctx.scale
        return ds @ k, ds.mT @ q, p.mT @ do, None, None


def flash_attention(query, key, value, block_size=64, causal=False):
    return Flash.apply(query, key, value, block_size, causal)
