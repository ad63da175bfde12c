"""Measurements that come with the package."""
