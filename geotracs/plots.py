"""Drawings."""


def plot(original, perturbed=None):
    """x"""
