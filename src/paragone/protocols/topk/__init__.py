"""The topk protocol: recommenders trained once per seed, scored by their lists for the test queries."""
