"""``python -m geotracs``: the command line."""

from geotracs.cli import main

main()
