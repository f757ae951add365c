"""Implementations that are graded here, each by an adapter in a file of its own."""
