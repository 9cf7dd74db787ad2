"""Files in and out, well-known data, generated data."""
