"""Cross-validation with refit: the prediction ledger, its scores, selection and refit."""
