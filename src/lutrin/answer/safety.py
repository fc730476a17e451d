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
    r"|\bGPIO\b|\bPWM\b|\bpwm|\bservo\b|\bmotors?\b|(?<![^\W_])torque(?![^\W_])|\beffort(?:_?command|_?controller|\s*=)|duty_?cycle|navigate_to_pose|NavigateToPose"
    r"|\b(?:go_?(?:to|through)_?poses?|follow_?(?:waypoints|path)|drive_?on_?heading)\s*\("
    r"|position_controller|velocity_controller|effort_controller|MoveGroup|\bmoveit|(?:open|close|move|command)_?gripper|gripper\.\w+\(|\bcan[-_.]?(?:send|bus)|odrive|dynamixel",
    re.IGNORECASE,
)
_LAUNCH = re.compile(r"^.*\bros(?:2 )?launch\b.*$", re.IGNORECASE | re.MULTILINE)
"""A command that starts a robot's programs, its continued lines joined."""
_STARTS_ROBOT = re.compile(r"bringup|robot_driver|use_sim_time:=false", re.IGNORECASE)
"""What such a command starts on a real robot ..."""
_STARTS_ELSE = re.compile(r"use_sim_time:=true|use_sim:=true|simulation|gazebo|\brviz", re.IGNORECASE)
"""... and in a simulator, or on a screen."""
_ENDS = (".", "!", "?", ":", ";", ")")
"""A block of which no unit ends so is a title."""
_DESCRIBES = frozenset({"xml", "urdf", "xacro", "sdf", "mermaid", "text", "json", "csv"})


def runs(chunk: Chunk, unit: Unit) -> bool:
    """Whether a unit is code that a reader may run on a real machine: no description, no page on simulation."""
    return unit.kind == "code" and unit.language.lower() not in _DESCRIBES and not chunk.is_simulation


def moves_hardware(chunk: Chunk, unit: Unit) -> bool:
    """Whether a unit is code that moves a real machine when a reader runs it, as far as its names tell."""
    return runs(chunk, unit) and (bool(_MOVES.search(unit.text)) or _launches_robot(unit.text))


def is_warned_of(chunk: Chunk, unit: Unit, same_file: Sequence[Chunk]) -> bool:
    """Whether the book itself warns of a piece of code, whatever is named in it: right before it stands a warning.

    Between the two there may be what announces the code, and other code that is announced in the same way: the same
    program in another language, the next command. What announces is the sentence or item right before.

    Args:
        chunk: Holds the code.
        unit: The code.
        same_file: All chunks of its file.
    """
    if not runs(chunk, unit):
        return False
    section = {
        item.char_start: item
        for other in same_file
        if (other.heading_path, other.anchor) == (chunk.heading_path, chunk.anchor)
        for item in other.units
        if item.char_start < unit.char_start
    }
    announced = unit.lead
    for start in sorted(section, reverse=True):
        item = section[start]
        if item.kind == "code":
            announced = item.lead
        elif item.warning:
            return True
        elif item.kind != "caption":
            if not announced or not item.text.startswith(announced):
                break
            announced = ""
    return unit.warning


def needs_warning(quote: Quote, same_file: Sequence[Chunk]) -> bool:
    """Whether a quote holds code that may not stand without the book's warning.

    Args:
        quote: Any quote.
        same_file: All chunks of its file.
    """
    return any(moves_hardware(quote.chunk, unit) or is_warned_of(quote.chunk, unit, same_file) for unit in quote.units)


def _launches_robot(code: str) -> bool:
    """Whether code starts a robot's own programs, other than in a simulator."""
    commands = _LAUNCH.findall(code.replace("\\\n", " "))
    return any(_STARTS_ROBOT.search(command) and not _STARTS_ELSE.search(command) for command in commands)


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
    said = [block for block in blocks.values() if _says(block[1])]
    placed = sorted(said or blocks.values(), key=lambda block: block[1][0].char_start)
    before = [block for block in placed if block[1][0].char_start < start]
    if not placed:
        return None
    chunk, units = before[-1] if before else placed[0]
    return Quote(chunk=chunk, units=tuple(units), score=quote.score)


def box_of(warning: Quote) -> list[Quote]:
    """A warning with all that stands in its box: paragraphs and lists, each a quote; code and a mere title are none.

    Two boxes of which one stands right below the other count as one.
    """
    units = warning.chunk.units
    first = last = next(place for place, unit in enumerate(units) if unit.char_start == warning.span[0])
    while first > 0 and units[first - 1].warning:
        first -= 1
    while last + 1 < len(units) and units[last + 1].warning:
        last += 1
    blocks: dict[int, list[Unit]] = {}
    for unit in units[first : last + 1]:
        if unit.kind != "code":
            blocks.setdefault(unit.block, []).append(unit)
    said = [block for block in blocks.values() if _says(block)] or list(blocks.values())
    return [Quote(chunk=warning.chunk, units=tuple(block), score=warning.score) for block in said]


def _says(block: Sequence[Unit]) -> bool:
    """Whether a block is more than the title of a box of warnings: "Safety" alone warns of nothing."""
    return any(unit.text.rstrip().endswith(_ENDS) for unit in block)


def simulation_note(chunks: Sequence[Chunk]) -> str | None:
    """The sentence that tells simulated from real, if the passages of an answer differ in it."""
    simulated = _titles(chunk for chunk in chunks if chunk.is_simulation is True)
    real = _titles(chunk for chunk in chunks if chunk.is_simulation is False)
    return messages.SIMULATION_MIXED.format(simulated=simulated, real=real) if simulated and real else None


def _titles(chunks: Iterable[Chunk]) -> str:
    return ", ".join(dict.fromkeys(chunk.section_title for chunk in chunks))
