"""The charts of comparisons, one a file; drawn when asked for."""

from paragone.comparison.charts.gallery import Charts, PairedCharts

__all__ = ["Charts", "PairedCharts"]
