"""The tutor's duties.

Code that moves real hardware never stands without the book's own warning; simulation is never passed off as reality.
"""

import re
from collections.abc import Iterable, Sequence

from lutrin import messages
from lutrin.answer.quote import Quote
from lutrin.records import Chunk, Unit

# What code does when it makes something move: speeds, torques, joints, pins, drives. Names of interfaces, not of books.
_MOVES = re.compile(
    r"cmd_vel|\bTwist\b|JointTrajectory|joint_trajectory|FollowJointTrajectory|follow_joint_trajectory|JointGroup\w*Command"
    r"|set_?(?:joint|motor|servo|wheel)\w*|(?:enable|arm|start|power|drive|move|run)_?(?:motor|servo|joint|drive|actuator|leg|arm|wheel)s?\b"
    r"|\bGPIO\b|\bPWM\b|\bpwm|\bservo\b|\bmotors?\b|\btorque\b|\beffort(?:_?command|_?controller|\s*=)|duty_?cycle|navigate_to_pose|NavigateToPose"
    r"|position_controller|velocity_controller|effort_controller|MoveGroup|\bmoveit|(?:open|close|move|command)_?gripper|gripper\.\w+\(|\bcan[-_.]?(?:send|bus)|odrive|dynamixel",
    re.IGNORECASE,
)
_ENDS = (".", "!", "?", ":", ";", ")")
"""A block of which no unit ends so is a title."""
_DESCRIBES = frozenset({"xml", "urdf", "xacro", "sdf", "mermaid", "text", "json", "csv"})


def moves_hardware(chunk: Chunk, unit: Unit) -> bool:
    """Whether a unit is code that moves a real machine when a reader runs it."""
    if unit.kind != "code" or unit.language.lower() in _DESCRIBES or chunk.is_simulation:
        return False
    return bool(_MOVES.search(unit.text))


def needs_warning(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes that hold code which moves real hardware."""
    return [quote for quote in quotes if any(moves_hardware(quote.chunk, unit) for unit in quote.units)]


def warning_for(quote: Quote, same_file: Sequence[Chunk]) -> Quote | None:
    """The book's own safety warning for a piece of code: the nearest before it in its file, else the first after it.

    Args:
        quote: Holds the code.
        same_file: All chunks of the code's file.
    """
    blocks: dict[tuple[str, int], tuple[Chunk, list[Unit]]] = {}
    for chunk in same_file:
        for unit in chunk.units:
            if unit.warning and unit.kind != "code":
                blocks.setdefault((chunk.chunk_id, unit.block), (chunk, []))[1].append(unit)
    start = quote.span[0]
    # The title of a box of warnings is a block of its own; "Safety" alone warns of nothing.
    said = [block for block in blocks.values() if any(unit.text.rstrip().endswith(_ENDS) for unit in block[1])]
    placed = sorted(said or blocks.values(), key=lambda block: block[1][0].char_start)
    before = [block for block in placed if block[1][0].char_start < start]
    if not placed:
        return None
    chunk, units = before[-1] if before else placed[0]
    return Quote(chunk=chunk, units=tuple(units), score=quote.score)


def simulation_note(chunks: Sequence[Chunk]) -> str | None:
    """The sentence that tells simulated from real, if the passages of an answer differ in it."""
    simulated = _titles(chunk for chunk in chunks if chunk.is_simulation is True)
    real = _titles(chunk for chunk in chunks if chunk.is_simulation is False)
    return messages.SIMULATION_MIXED.format(simulated=simulated, real=real) if simulated and real else None


def _titles(chunks: Iterable[Chunk]) -> str:
    return ", ".join(dict.fromkeys(chunk.section_title for chunk in chunks))
