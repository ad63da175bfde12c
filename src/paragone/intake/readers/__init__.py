"""Readers of results, one file per format; each adds itself to `paragone.intake.result_readers`."""
