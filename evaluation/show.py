"""Reports as tables of plain text, which are valid Markdown too."""

from collections.abc import Sequence

from evaluation.figures import BY_NAME, FIGURES, Figure
from evaluation.report import Comparison, Report

KIND_COLUMNS = ("file@1", "file@5", "facts@5", "facts", "length", "cited", "sentences proven", "latency median")


def table(result: Report) -> str:
    """Every figure with its interval, its number of questions, its goal, and whether that is reached."""
    rows = [["figure", "value", "95% interval", "questions", "goal", ""]]
    for item in result.figures:
        figure = BY_NAME[item.name]
        reached = "" if figure.goal is None else "yes" if figure.reaches(item.value, figure.goal) else "no"
        ends = f"{_number(figure, item.low)} to {_number(figure, item.high)}"
        rows.append([item.name, _number(figure, item.value), ends, str(item.questions), _goal(figure), reached])
    return aligned(rows)


def kinds_table(result: Report) -> str:
    """The main figures of each kind of question of the book."""
    rows = [["kind", "questions", *KIND_COLUMNS]]
    for kind, values in result.kinds.items():
        by_name = {item.name: item for item in values}
        cells = [_number(BY_NAME[name], by_name[name].value) if name in by_name else "" for name in KIND_COLUMNS]
        if any(name in by_name for name in KIND_COLUMNS[:3]):
            count = sum(outcome.kind == kind for outcome in result.outcomes)
            rows.append([kind, str(count), *cells])
    return aligned(rows)


def side_by_side(results: Sequence[Report]) -> str:
    """One column a pipeline, one row a figure that any of them has."""
    rows = [["figure", *(result.name for result in results), "goal"]]
    for figure in FIGURES:
        values = [result.value(figure.name) for result in results]
        if any(values):
            cells = [_number(figure, item.value) if item else "" for item in values]
            rows.append([figure.name, *cells, _goal(figure)])
    return aligned(rows)


def comparison_table(result: Comparison) -> str:
    """Each figure under both settings, the change with its interval, and whether it is more than chance."""
    rows = [["figure", result.first, result.second, "change", "95% interval", "questions", ""]]
    for item in result.changes:
        figure = BY_NAME[item.name]
        better = (item.change < 0) == figure.at_most
        verdict = ("better" if better else "worse") if item.shown else ""
        ends = f"{_number(figure, item.low, sign='+')} to {_number(figure, item.high, sign='+')}"
        rows.append(
            [
                item.name,
                _number(figure, item.first),
                _number(figure, item.second),
                _number(figure, item.change, sign="+"),
                ends,
                str(item.questions),
                verdict,
            ]
        )
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns line up; the first row is its head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _number(figure: Figure, value: float, *, sign: str = "") -> str:
    digits = 0 if figure.unit == "words" else 2 if figure.unit == "s" else 3
    suffix = f" {figure.unit}" if figure.unit else ""
    return f"{value:{sign}.{digits}f}{suffix}"


def _goal(figure: Figure) -> str:
    if figure.goal is None:
        return ""
    return f"{'<=' if figure.at_most else '>='} {figure.goal:g}"
