"""The curve protocol: rank the features on train, score growing sets of them on test."""
