"""The experiment: what is to be run, in TOML or in Python."""

from paragone.experiment.experiment import Experiment
from paragone.experiment.forecast import Forecast

__all__ = ["Experiment", "Forecast"]
