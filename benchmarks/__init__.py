"""Where README's figures come from. Each benchmark prints ratios measured in one run: machines differ and are noisy."""
