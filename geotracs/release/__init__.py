"""A release: its plan and its steps, and the engines that apply them to a frame, a file, a dask frame."""
