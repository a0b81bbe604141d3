"""Makes a device ready, so that nothing is loaded, opened or started once the walls are up."""

from __future__ import annotations

import torch
from torch.nn import functional

_MEBIBYTE = 1 << 20
_SMALL = 64  # MiB: torch keeps blocks of up to 1 MiB apart from larger ones
_DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def make_ready(device: str, reserve_bytes: int) -> None:
    """Initialise `device`, use each of its libraries once, forwards and backwards, and take its memory.

    Args:
        reserve_bytes: of the device's memory, for everything that one submission allocates; the CPU has no such thing.
    """
    if device == "cuda":
        torch.cuda.init()  # type: ignore[no-untyped-call]
        torch.backends.cuda.matmul.allow_tf32 = False  # ten bits of mantissa would be called float32 otherwise
        torch.backends.cudnn.allow_tf32 = False
        torch.cuda.Stream()  # type: ignore[no-untyped-call]  # makes the whole pool of them
    for dtype in _DTYPES:
        _attend(torch.device(device), dtype)
    _use_the_rest(torch.device(device))
    if device == "cuda":
        _reserve(reserve_bytes)
        torch.cuda.synchronize()


def _attend(device: torch.device, dtype: torch.dtype) -> None:
    """Run an attention block forwards and backwards; the first backward pass starts the device's own thread."""
    layer = torch.nn.Linear(8, 8).to(device, dtype)
    x = torch.randn(2, 5, 8, device=device).to(dtype).requires_grad_()
    heads = [layer(x).view(2, 5, 2, 4).transpose(1, 2) for _ in range(3)]
    scores = torch.einsum("bhqd,bhkd->bhqk", heads[0], heads[1]) / 2
    hidden = torch.ones(5, 5, device=device).triu(1).bool()
    weights = functional.dropout(torch.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1), 0.1)
    merged = (weights @ heads[2]).transpose(1, 2).reshape(2, 5, 8)
    normed = functional.layer_norm(functional.gelu(merged) + torch.tanh(layer(merged)), (8,))
    normed.pow(2).mean().backward()  # type: ignore[no-untyped-call]
    torch.optim.AdamW(layer.parameters()).step()
    normed.detach().to("cpu", torch.float64)


def _use_the_rest(device: torch.device) -> None:
    """Use the libraries that are looked up at their first use: convolutions, solvers, transforms, sorting, chance."""
    x = torch.randn(4, 6, 8, device=device, requires_grad=True)
    functional.conv1d(x, torch.ones(6, 6, 3, device=device), padding=1).sum().backward()  # type: ignore[no-untyped-call]
    torch.linalg.svd(x.detach())
    torch.linalg.inv(torch.eye(4, device=device) * 2)
    torch.fft.rfft(x.detach())
    x.detach().sort(-1)
    x.detach().topk(2)
    x.detach().cumsum(-1).argmax(-1)
    functional.embedding(torch.arange(3, device=device), torch.ones(5, 2, device=device))
    torch.polar(torch.ones(3, device=device), torch.ones(3, device=device)).abs()
    torch.func.vmap(torch.func.grad(lambda row: row.softmax(-1).sum()))(x.detach()[0])
    repr(x)


def _reserve(size: int) -> None:
    """Take `size` bytes from the driver now and give them to torch's allocator, which is then allowed no more.

    For memory that the processor sees, a driver opens its device file anew each time, and later there is no opening.
    """
    small = [torch.empty(_MEBIBYTE, dtype=torch.uint8, device="cuda") for _ in range(_SMALL)]
    left = max(_MEBIBYTE, size - torch.cuda.memory_reserved())
    large = torch.empty(left, dtype=torch.uint8, device="cuda")
    del small, large  # torch keeps both for what comes
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, torch.cuda.memory_reserved() / total))
