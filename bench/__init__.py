"""Measurements, printed as ratios against a reference of the same run; nothing here asserts."""
