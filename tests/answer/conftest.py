"""A small published book about robots, read by the fakes, for the tests of the whole answer flow."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.ports import Embedder
from lutrin.settings import Settings, load_settings

PAGES = {
    "book.toml": 'slug = "robots"\ntitle = "Robots"\nedition = "First Edition"\n',
    "01-chapter-1-loops/01-the-loop.md": """---
title: The loop
---

## What the loop is

The sensorimotor loop is the cycle of sensing, deciding and acting. It runs 500 times a second on Kestrel.

## Batteries

The battery of Kestrel stores 480 watt hours. A full charge takes three hours.

## Kites

The drag of the kite is

$$ D = k v^2 $$

The drag factor $k$ of the kite is 3 for a wet kite.
""",
    "02-chapter-2-driving/01-driving.md": """---
title: Driving
is_simulation: false
---

## Driving Wren

:::danger[Safety]

Keep two metres away from Wren while its motors have power.

:::

The command below drives Wren forward.

```bash
ros2 topic pub /cmd_vel geometry_msgs/msg/Twist "{linear: {x: 0.1}}"
```
""",
    "02-chapter-2-driving/02-arms.md": """---
title: Arms
is_simulation: false
---

## Moving the arm

The command below moves the arm of Kestrel.

```bash
ros2 topic pub /arm/joint_trajectory trajectory_msgs/msg/JointTrajectory "{}"
```
""",
    "02-chapter-2-driving/03-simulated.md": """---
title: Simulated wheels
is_simulation: true
---

## Wheels in simulation

The wheels of Wren never slip in the simulator.
""",
    "02-chapter-2-driving/04-real.md": """---
title: Real wheels
is_simulation: false
---

## Wheels on hardware

The wheels of Wren slip on a wet floor.
""",
}


@pytest.fixture(scope="session")
def flow_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings whose data folder holds the book once `shelf` is used."""
    return load_settings(data_dir=tmp_path_factory.mktemp("flow"), deadline_s=20.0)


@pytest.fixture
async def shelf(flow_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shelf]:
    """The book, ingested once and open."""
    if not flow_settings.catalog_path.exists():
        await publish(flow_settings, tmp_path_factory.mktemp("corpus"), PAGES)
    async with Shelf(flow_settings.catalog_path, flow_settings.books_dir, ExactStore()) as opened:
        yield opened


@pytest.fixture
async def two_books(tmp_path: Path) -> AsyncIterator[Shelf]:
    """The book beside one about bees."""
    settings = load_settings(data_dir=tmp_path / "data")
    bees = {
        "bees/book.toml": 'slug = "bees"\ntitle = "Bees"\n',
        "bees/01-hive.md": "# The hive\n\nBees live in a hive.\n",
    }
    await publish(settings, tmp_path / "corpus", {f"robots/{name}": text for name, text in PAGES.items()} | bees)
    async with Shelf(settings.catalog_path, settings.books_dir, ExactStore()) as opened:
        yield opened


async def publish(settings: Settings, corpus: Path, pages: Mapping[str, str], embedder: Embedder | None = None) -> None:
    """Ingest pages, by their paths, with the fakes, or with an embedder."""
    store = ExactStore()
    for name, text in pages.items():
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        (corpus / name).write_text(text, encoding="utf-8")

    async def verify(directory: Path) -> None:
        await verify_generation(directory, store)

    await ingest(corpus, settings, IngestTools(embedder=embedder or WordHashEmbedder(), store=store, verify=verify))
