"""What a reader learns from a release: estimates with honest intervals. No epsilon is spent."""
