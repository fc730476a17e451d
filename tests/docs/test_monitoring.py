"""The example dashboard and alerts ask for figures that there are."""

import json
import re
from pathlib import Path

import yaml

from lutrin.serve.metrics import Metrics

PLACE = Path(__file__).parents[2] / "docs" / "monitoring"


def test_every_figure_that_is_asked_for_is_there() -> None:
    """In the dashboard's panels and in the alerts' rules; each alert says what to do."""
    there = set(re.findall(r"^# TYPE (\w+) ", Metrics().exposition().decode(), re.MULTILINE))
    there |= {f"{name}_bucket" for name in there} | {name.removesuffix("_total") + "_total" for name in there}
    panels = json.loads((PLACE / "dashboard.json").read_text("utf-8"))["panels"]
    (group,) = yaml.safe_load((PLACE / "alerts.yml").read_text("utf-8"))["groups"]
    asked = [target["expr"] for panel in panels for target in panel["targets"]]
    asked += [rule["expr"] for rule in group["rules"]]
    names = set(re.findall(r"\blutrin_\w+", " ".join(asked)))
    assert len(names) >= 10
    assert names <= there
    assert all(rule["annotations"]["remedy"] for rule in group["rules"])
