"""Speed and memory, measured by `make bench`."""
