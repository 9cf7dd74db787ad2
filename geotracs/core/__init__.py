"""The mathematics, over arrays: randomness, epsilon, exact mechanisms, public regions and places, methods."""
