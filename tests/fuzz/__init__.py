"""Damaged files through every command and function that reads, looking for private values wherever they may show.

``python -m tests.fuzz --runs 10000`` makes many runs, and ``--seed S --run N`` repeats one of them with its details.
"""
