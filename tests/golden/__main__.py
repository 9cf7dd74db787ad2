"""Write the hashes of all golden releases."""

import json

from tests.golden import HASHES, cases, in_memory, on_dask

if __name__ == "__main__":
    hashes = {
        name: {
            kind: {"memory": in_memory(lines, arguments), "dask": on_dask(lines, arguments)}
            for kind, lines in (("points", False), ("lines", True))
        }
        for name, arguments in cases()
    }
    HASHES.write_text(json.dumps(hashes, indent=1) + "\n")
