"""Write the vectors of the background questions (`src/lutrin/retrieve/background.txt`) for the usual embedder.

    python bench/background.py

To be run after a change of the questions or of the model; `tests/retrieve/test_background.py` says when.
"""

import asyncio
from importlib import resources
from pathlib import Path

import numpy as np

from lutrin import wiring
from lutrin.retrieve.background import KNOWN, packed
from lutrin.settings import load_settings


async def main() -> None:
    """Compute and write them."""
    async with wiring.opened(load_settings(), with_model=False) as house:
        found = await packed(house.searcher.embedder)
    path = Path(str(resources.files("lutrin.retrieve"))) / KNOWN
    np.savez_compressed(path, **found)
    print(f"{len(found['vectors'])} vectors of {found['embedder']}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    asyncio.run(main())
