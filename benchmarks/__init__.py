"""Where the figures of docs/performance.md come from.

Each benchmark prints ratios measured in one run: machines differ and are noisy.
"""
