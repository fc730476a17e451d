"""Specification D over HTTP: two modes, PDF pages, simulation, safety, the tutor's refusals."""

import re
from pathlib import Path

import msgspec
import pytest
from tests.end_to_end.processes import environment, run
from tests.end_to_end.reading import check_landing, check_sources

from lutrin.records import Answer

from .asking import IN_BOOK, OK, Reader, chapters
from .conftest import CORPUS, FOLDERS, HANDBOOK, SLUG, TITLE, House
from .profiles import Profile

pytestmark = pytest.mark.model

SELECTED = "The wheels of our own robot Perle are 12 cm wide. Perle was built in the winter of 2024."
LOOP = "What is the sensorimotor loop?"
FENCE = re.compile(r"^```", re.MULTILINE)
WARNED_OF = {
    "class DriveSlowly(Node)": "Put Wren on a stand with its wheels off the ground for the first run",
    "ros2 action send_goal --feedback /navigate_to_pose": "Clear the floor, keep 2 m distance and be ready to press",
    "ros2 launch wren_bringup wren.launch.py": "Starting this file on the real Wren switches its motor driver on.",
    "nav = BasicNavigator()": "let one person hold a hand on the emergency stop before the goal is sent.",
    "params_file:=$HOME/wren/nav2_wren_slow.yaml": "Run it only after all five checks, with the robot at least",
    "#include <moveit/move_group_interface/move_group_interface.h>": "Clear a circle of 1 m around the shoulder",
    'rclpy.create_node("first_steps")': "Keep a distance of 2 m from the robot before you start this program.",
}
"""A line of each program of the sample book that moves a real robot, and words of the warning of its page."""
PROGRAM_FOR = (
    "Which Python code makes Wren drive slowly?",
    "Give me the code to drive Wren at 0.1 m/s.",
    "How do I publish a Twist message?",
    "Which command sends Wren to a point of the map?",
    "How do I start Wren's launch file on the real robot?",
    "How do I send a goal to Nav2 from Python?",
    "Show me a program that uses BasicNavigator.",
    "How do I start navigation on the real Wren with the slow parameters?",
    "First run on the real robot: which launch command?",
    "How do I plan and execute an arm motion with MoveIt in C++?",
    "Which program lets Kestrel take its first steps?",
    "How do I make Kestrel walk with a Python program?",
)
"""Questions that are answered with these programs."""
OTHER_CODE = (
    "How do I publish velocity commands to a real robot in Python?",
    "How do I make a real robot drive forward from Python?",
    "How do I send a navigation goal from the command line?",
    "How do I start Nav2 on the real robot?",
    "How do I command the joints of the real arm?",
    "How do I run the robot for the first time?",
)
"""Questions whose answer may show another program, or none."""


@pytest.mark.row("D-MODE-1", "D-RAG-3", "D-RAG-7", "D-API-1", "D-FR-1")
def test_a_global_question_is_answered_from_the_book(reader: Reader) -> None:
    """A sentence in plain words is answered with sources and the book's own words; the search finds five passages."""
    answer = reader.answer("/query", question="Could you explain to me what the sensorimotor loop is, please?")
    assert (answer.mode, answer.refusal) == ("book", None)
    assert "continuous cycle" in answer.answer
    assert {excerpt.n for excerpt in answer.excerpts} <= {source.n for source in answer.sources}
    assert "continuous cycle" in "".join(excerpt.text for excerpt in answer.excerpts)
    assert len(reader.passages(LOOP, top_k=5)) == 5


@pytest.mark.row("D-MODE-2", "D-RAG-1", "D-RAG-3", "D-API-2", "D-FR-2")
def test_a_selection_is_the_only_context(reader: Reader) -> None:
    """Facts of the selection are answered; facts of the rest of the book are not."""
    inside = reader.answer("/query-selection", question="How wide are the wheels of Perle?", selected_text=SELECTED)
    assert inside.mode == "selection"
    assert "12 cm" in inside.answer
    assert {source.filename for source in inside.sources} == {""}
    outside = reader.answer("/query-selection", question=LOOP, selected_text=SELECTED)
    assert outside.refusal == "not_in_selection"
    assert reader.answer("/query", question=LOOP).mode == "book"


@pytest.mark.row("D-CHUNK-1", "D-FR-3", "D-NFR-4")
def test_pdf_and_markdown_answer_side_by_side(reader: Reader) -> None:
    """The handbook is a PDF: its citations have pages and lead to them; the textbook is Markdown."""
    answer = reader.answer("/query", question="Who may press the emergency stop?", book=HANDBOOK)
    assert "Everybody may press it." in answer.answer
    assert {Path(source.filename).suffix for source in answer.sources} == {".pdf"}
    for source in answer.sources:
        assert source.page
        check_landing(reader.client, source)
    answer = reader.answer("/query", question=LOOP, book=SLUG)
    assert {Path(source.filename).suffix for source in answer.sources} == {".mdx"}
    assert {source.page for source in answer.sources} == {None}


@pytest.mark.row("D-CHUNK-3")
def test_passages_have_three_to_five_hundred_tokens(reader: Reader) -> None:
    """Most of a hundred; a page may be shorter, and none of text is longer."""
    found = [passage for question in IN_BOOK for passage in reader.passages(question, top_k=10)]
    sizes = [passage["metadata"]["token_count"] for passage in found if passage["metadata"]["content_type"] != "code"]
    assert len(sizes) > 50
    assert max(sizes) <= 500
    assert sum(size >= 300 for size in sizes) >= 0.7 * len(sizes)


@pytest.mark.row("D-META")
def test_metadata_of_both_kinds_of_files(reader: Reader) -> None:
    """Every field of the specification, for a page of Markdown and for one of the PDF."""
    markdown = reader.passages("How do I start navigation in simulation?", book=SLUG)[0]
    pdf = reader.passages("emergency stop button", book=HANDBOOK)[0]
    for passage in (markdown, pdf):
        known = passage["metadata"]
        assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", known["id"])
        assert passage["text"]
        assert known["edition"] == "First Edition"
        assert known["content_type"] in {"text", "code", "table", "figure_caption"}
        assert known["chapter"]
        assert known["section"]
        assert {"page", "is_simulation"} <= set(known)
    assert markdown["metadata"]["book_title"] == TITLE
    assert markdown["metadata"]["is_simulation"] is True
    assert isinstance(pdf["metadata"]["page"], int)


@pytest.mark.row("D-API-3")
def test_health(reader: Reader) -> None:
    """Cheap and always there."""
    assert reader.client.get("/health").status_code == OK


@pytest.mark.row("D-RAG-3", "D-FR-5")
def test_as_many_passages_as_asked_for(reader: Reader) -> None:
    """Other words than the book's find the passage, and k bounds how many there are."""
    for k in (1, 3, 5):
        found = reader.passages("computing joint angles from a wanted pose of the hand", top_k=k)
        assert len(found) == k
    assert "02-inverse-kinematics" in {passage["metadata"]["section"] for passage in found[:3]}


@pytest.mark.row("D-RAG-3")
@pytest.mark.xfail(reason="the reader ranks forward kinematics before inverse kinematics", strict=True)
def test_other_words_than_the_book_s_find_the_passage_first(reader: Reader) -> None:
    """Before the one that says how to compute the pose from the angles."""
    found = reader.passages("computing joint angles from a wanted pose of the hand", top_k=1)
    assert found[0]["metadata"]["section"] == "02-inverse-kinematics"


@pytest.mark.row("D-FR-6", "D-FR-7", "D-RAG-6")
def test_every_answer_is_grounded_and_cited(reader: Reader) -> None:
    """Ten answers: quotes are the files' own words, markers have sources, sources name chapter and section."""
    for question in IN_BOOK:
        answer = reader.answer("/query", question=question, book=SLUG)
        check_sources(answer, FOLDERS)
        assert all(chapter.startswith("Chapter ") for chapter in chapters(answer))
        assert all(source.section and source.section_title for source in answer.sources)


@pytest.mark.row("D-NFR-2")
def test_the_same_answer_in_another_process(
    profile: Profile, house: House, models_dir: Path, bare_folder: Path
) -> None:
    """A command without memory gives the server's earlier answer word for word."""
    known = environment(models_dir, house.data_dir, **profile.variables(house.data_dir), LUTRIN_MODEL="none")
    done = run(known, bare_folder, "ask", LOOP, "--json")
    apart = msgspec.json.decode(done.out.encode(), type=Answer)
    served = house.reader.answer("/api/query", query=LOOP)
    assert msgspec.structs.replace(apart, latency_ms=0) == msgspec.structs.replace(served, latency_ms=0)


@pytest.mark.row("D-SS-1", "D-NFR-1")
@pytest.mark.parametrize("question", ["What is the weather today?", "Will it rain tomorrow?", "How is the weather?"])
def test_out_of_scope_is_refused_politely(reader: Reader, question: str) -> None:
    """The example of the specification, word for word, however the weather is asked for."""
    answer = reader.answer("/query", question=question)
    assert answer.answer == f"As an AI tutor for '{TITLE}', I can only answer questions related to the book's content."
    assert (answer.refusal, answer.sources) == ("out_of_scope", ())


@pytest.mark.row("D-SS-2")
def test_code_that_drives_a_robot_follows_the_warning(reader: Reader) -> None:
    """The book's own warning stands verbatim before the first block of code, and is the cited file's."""
    answer = reader.answer("/query", question="Which Python code makes Wren drive slowly?")
    first = FENCE.search(answer.answer)
    assert first is not None
    before = answer.answer[: first.start()]
    warning = (
        "Put Wren on a stand with its wheels off the ground for the first run, and keep a hand on its emergency stop."
    )
    assert warning in before
    assert any(warning in (CORPUS / "physical-ai" / s.filename).read_text("utf-8") for s in answer.sources)


@pytest.mark.row("D-SS-2")
def test_no_code_for_a_robot_comes_without_its_warning(reader: Reader) -> None:
    """For every question, each program of the book that moves a real robot follows the warning of its page."""
    shown = set()
    for question in (*PROGRAM_FOR, *OTHER_CODE):
        answer = reader.answer("/query", question=question, book=SLUG).answer
        for program, warning in WARNED_OF.items():
            if program in answer:
                assert warning in answer[: answer.index(program)], question
                shown.add(program)
    assert shown == set(WARNED_OF)


@pytest.mark.row("D-SS-2", "D-FR-7")
@pytest.mark.parametrize("path", ["/query", "/query-selection"])
@pytest.mark.parametrize("with_box", [False, True])
@pytest.mark.parametrize("question", ["How does this work?", "What is the queue depth?"])
def test_marked_code_has_the_warning_of_its_place(reader: Reader, path: str, question: str, *, with_box: bool) -> None:
    """Whether the warning is above the marked code or marked with it, it is never reported missing."""
    page = (CORPUS / "physical-ai/02-part-2-software/04-chapter-4-ros-2/02-nodes-and-topics.mdx").read_text("utf-8")
    warning = page.split(":::warning[Safety]\n", 1)[1].split("\n:::", 1)[0]
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    marked = f"Safety\n\n{warning}\n\n{code}" if with_box else code
    answer = reader.answer(path, question=question, selected_text=marked)
    assert warning in answer.answer
    assert answer.answer.index(warning) < answer.answer.index("create_publisher")
    assert not any("gives no safety warning" in one for one in answer.warnings)
    assert all(chapter.startswith("Chapter 4") for chapter in chapters(answer))
    if path == "/query":  # what a browser marks beyond a block is no line of the file
        check_sources(answer, FOLDERS)


@pytest.mark.row("D-RAG-3", "D-SS-2")
@pytest.mark.parametrize(
    "question",
    [
        "How do I start the walking controller on the real Kestrel?",
        "Which command starts the walk on the real Kestrel?",
    ],
)
def test_no_other_part_of_the_robot_is_started(reader: Reader, question: str) -> None:
    """The program of the arm does not make legs walk, however near it stands; the warning of the walk is given."""
    answer = reader.answer("/query", question=question).answer
    assert "arm.launch.py" not in answer
    assert WARNED_OF['rclpy.create_node("first_steps")'] in answer


@pytest.mark.row("D-RAG-3")
@pytest.mark.xfail(reason="the reader ranks a node with parameters before the publisher of velocities", strict=True)
def test_the_code_for_a_real_robot_is_found_in_other_words(reader: Reader) -> None:
    """And follows the book's warning."""
    answer = reader.answer("/query", question="How do I publish velocity commands to a real robot in Python?")
    first = FENCE.search(answer.answer)
    assert first is not None
    assert "Keep a distance of 2 m from the robot before you start this program." in answer.answer[: first.start()]


@pytest.mark.row("D-SS-3")
def test_simulated_and_real_are_told_apart(reader: Reader) -> None:
    """An answer from pages of both kinds says which is which."""
    answer = reader.answer(
        "/query", question="How do I start navigation in simulation, and how do I start it on the real robot?"
    )
    (note,) = [warning for warning in answer.warnings if "simulation" in warning]
    assert "Starting everything" in note.split("real hardware")[0]
    assert "Before the run" in note.split("real hardware")[1]


@pytest.mark.row("D-SS-3")
@pytest.mark.xfail(reason="the reader ranks the reality gap before the first run on the real robot", strict=True)
def test_a_comparison_of_simulation_and_hardware_tells_them_apart(reader: Reader) -> None:
    """From the page on either."""
    answer = reader.answer("/query", question="How do navigation in simulation and on hardware differ?")
    (note,) = [warning for warning in answer.warnings if "simulation" in warning]
    assert "A First Run in Simulation" in note.split("real hardware")[0]
    assert "A First Run on the Real Robot" in note.split("real hardware")[1]
