"""Single-use workers for a device with a driver: warmed up first, then closed in, then given one submission.

Their walls are weaker than the sandbox's: a driver is a large program in the kernel, and its door stays open. What they
hold and what they do not is in docs/gpu.md. The same code runs with the device `cpu`, and is tested so.
"""
