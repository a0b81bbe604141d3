"""Single-use workers for a device with a driver: warmed up first, then closed in, then given one submission.

Their walls are weaker than the sandbox's: a driver is a large program in the kernel, and its door stays open. What they
hold and what they do not is in docs/gpu.md. The same code runs with the device `cpu`, and is tested so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# What a box of workers is called, in reports and on the page, so that nobody takes it for more than it promises.
NAMES: Mapping[str, str] = {"cuda": "GPU worker (weaker walls)", "cpu": "CPU worker (weaker walls)"}


def may_be_there() -> bool:
    """Return whether there is a driver of NVIDIA's; needs no torch."""
    return Path("/dev/nvidiactl").exists()


def there_is_a_gpu() -> bool:
    """Return whether torch can use a GPU of NVIDIA's, without waking it: this process must hold no context on it.

    `device_count` asks the management library, as `is_available` does where PYTORCH_NVML_BASED_CUDA_CHECK is 1; the
    usual `is_available` would initialise the driver.
    """
    import torch  # here: the pages' process has none

    return may_be_there() and torch.version.cuda is not None and torch.cuda.device_count() > 0
