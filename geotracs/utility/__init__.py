"""What a release cost: metrics, comparison, sweeps."""
