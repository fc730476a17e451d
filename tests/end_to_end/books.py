"""A small book, written anew for these tests: every form of MDX that citations must survive, in four pages."""

from pathlib import Path

SLUG = "tidepool"
TITLE = "Tidepool Robots"
QUESTION = "What is the ballast cycle?"
ANSWER_FILE = "02-diving/01-ballast.mdx"
PAGES = {
    "book.toml": f'slug = "{SLUG}"\ntitle = "{TITLE}"\nedition = "Second Edition"\nversion = "v2"\n',
    "01-hull/_category_.json": '{"label": "Chapter 1: The Hull", "position": 1}\n',
    "01-hull/01-shell.mdx": """---
title: The Shell
sidebar_position: 1
---
import Tabs from '@theme/Tabs';

The shell of a tidepool robot is a glass sphere with a wall of 11 mm. It withstands a pressure of 4 bar.

## Seals {#seals}

Two rubber rings seal the shell where the cable enters. Grease the rings with silicone before every dive.

:::danger[Pressure]
Never open the shell under water, because the pressure throws the lid off.
:::
""",
    "01-hull/02-paint.mdx": """---
title: Paint
---

Barnacles settle on bare metal within two weeks. A coat of copper paint keeps barnacles away for one season.

| Coat | Lasts (weeks) |
|---|---|
| bare metal | 2 |
| copper paint | 26 |
""",
    "02-diving/_category_.json": '{"label": "Chapter 2: Diving", "position": 2}\n',
    ANSWER_FILE: """---
title: Ballast
description: How the robot sinks and rises.
---

## The ballast cycle {#ballast-cycle}

The **ballast cycle** is the sequence in which the robot floods its tank, sinks, measures the depth, and pumps the tank
empty to rise. One ballast cycle takes 90 seconds.

1. Flood the tank.
2. Wait until the depth sensor reads 1.5 m.
3. Start the pump.

## How fast the pump works

The pump moves 0.4 litres of water a second. It draws 12 W from the battery.

```python
def depth_m(pressure_pa: float) -> float:
    # ten metres of sea water press with about one bar
    return pressure_pa / 10_055
```
""",
    "02-diving/02-lights.mdx": """---
title: Lights
---

The lamp of the robot is red, since few animals of the tidepool see red light. It goes out below 20 % of the charge.
""",
}
MDX_FILES = sorted(name for name in PAGES if name.endswith(".mdx"))
CHAPTERS = ["01-hull", "02-diving"]


def write_book(folder: Path) -> Path:
    """Write the book into a folder that is made for it."""
    for name, text in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
