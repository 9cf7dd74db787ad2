"""What a privacy officer can check: the promise, the people behind it, and the sum of what was spent."""
