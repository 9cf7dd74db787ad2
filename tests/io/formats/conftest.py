from tests.release.file.conftest import people, small  # noqa: F401  (fixtures: little data, in many batches)
