"""Specification C over HTTP: questions, selections, conversations, limits, administration."""

import re
import secrets
import time

import httpx
import pytest
from tests.end_to_end.reading import check_sources

from .asking import OK, Reader, Replies, chapters, ends_with, new_session, newest
from .conftest import CORPUS, FOLDERS, HANDBOOK, SLUG, TOKEN, Growth, House

pytestmark = pytest.mark.model

ROS = "What are the key differences between ROS 2 and ROS 1?"
NOT_IN_BOOK = "I don't have information about that in the textbook. Please ask about topics covered in the book."
NOT_IN_SELECTION = "The selected text does not contain the answer."
PRINCIPLES = (
    "**Humanoid design principles** are the rules that make a human-shaped robot able to balance, safe to be near and "
    "possible to repair."
)
PARAGRAPHS = """Loss of power or of communication must lead to a state that hurts nobody.

Every joint has an encoder, and the trunk has an IMU.

The gripper of our own robot Perle opens 73 mm."""
DESIGN = (
    CORPUS / "physical-ai/01-part-1-foundations/01-chapter-1-embodied-intelligence/05-humanoid-design-principles.mdx"
)
IK = "04-part-4-perception-and-motion/10-chapter-10-kinematics-dynamics/02-inverse-kinematics.mdx"
SAFETY = "05-part-5-intelligence-and-society/14-chapter-14-hardware-ethics-safety/05-lab-safety.mdx"
JOB_S = 600.0


def browser() -> dict[str, str]:
    """The secret of a new browser, as a header."""
    return {"X-Lutrin-Client": secrets.token_hex(32)}


@pytest.mark.row("C-US1-1", "C-FR-011", "C-FR-014")
def test_the_whole_book_is_asked(reader: Reader) -> None:
    """ROS 2 against ROS 1: the table of the chapter that compares them, with chapter and section cited."""
    answer = reader.answer("/query", question=ROS)
    assert (answer.mode, answer.refusal) == ("book", None)
    assert "Chapter 4: ROS 2" in chapters(answer)
    assert ends_with({source.section for source in answer.sources}, "01-what-is-ros-2")
    assert "DDS" in answer.answer
    check_sources(answer, FOLDERS)


@pytest.mark.row("C-US1-2")
def test_a_follow_up_keeps_the_topic(reader: Reader) -> None:
    """'Can you elaborate on that?' is about what was asked before."""
    session = new_session()
    reader.answer("/query", question=ROS, session_id=session)
    answer = reader.answer("/query", question="Can you elaborate on that?", session_id=session)
    assert "Chapter 4: ROS 2" in chapters(answer)


@pytest.mark.row("C-US1-3", "C-FR-012", "C-EC-2")
def test_outside_the_book_is_said_so(reader: Reader) -> None:
    """On the subject or not: what the book does not hold gets the exact sentence."""
    answer = reader.answer("/query", question="How do I build a quantum computer?")
    assert (answer.answer, answer.sources) == (NOT_IN_BOOK, ())


@pytest.mark.row("C-US2-1", "C-FR-007", "C-FR-015")
def test_a_selection_answers_alone(reader: Reader) -> None:
    """All that is said about the principles is in the selected paragraph."""
    question = "What are the design principles mentioned here?"
    answer = reader.answer("/query-selected-text", question=question, selected_text=PRINCIPLES)
    assert answer.mode == "selection"
    assert "able to balance" in answer.answer
    assert {source.quote for source in answer.sources} <= {PRINCIPLES, PRINCIPLES.replace("**", "")}


@pytest.mark.row("C-US2-1")
@pytest.mark.parametrize("shown", [False, True])
def test_all_eight_principles_of_a_selection_come_back(reader: Reader, *, shown: bool) -> None:
    """As the author typed them, and as a browser gives them: an item in each line, without its number."""
    section = DESIGN.read_text("utf-8").partition("## Eight design principles")[2].partition("\n## ")[0]
    principles = re.findall(r"^\d\. .*$", section, re.MULTILINE)
    assert len(principles) == 8
    if shown:
        principles = [re.sub(r"^\d\. |\*", "", line) for line in principles]
    selected = "\n\n".join([PRINCIPLES, "\n".join(principles)])
    question = "What are the design principles mentioned here?"
    answer = reader.answer("/query-selected-text", question=question, selected_text=selected)
    names = ("human world", "distal mass", "centre of mass", "joints", "compliant", "Sense", "Fail", "repairable")
    assert [name for name in names if name not in answer.answer] == []


@pytest.mark.row("C-US2-3")
def test_the_arguments_on_both_sides_of_a_selection_come_back(reader: Reader) -> None:
    """All three paragraphs are used: the best argument, the second one and the counter-arguments."""
    text = DESIGN.read_text("utf-8")
    selected = text[text.index("The best argument") : text.index("## Eight design principles")].strip()
    question = "What are the arguments for and against?"
    answer = reader.answer("/query-selected-text", question=question, selected_text=selected)
    assert [
        part for part in ("The best argument", "second argument", "Wheels are cheaper") if part not in answer.answer
    ] == []


@pytest.mark.row("C-US2-2", "C-SC-002")
@pytest.mark.parametrize(
    "question", ["How does this relate to motion control?", "What is a costmap?", "What is inverse kinematics?"]
)
def test_what_the_selection_does_not_say_is_not_answered(reader: Reader, question: str) -> None:
    """Not even if the book knows it."""
    answer = reader.answer("/query-selected-text", question=question, selected_text=PRINCIPLES)
    assert (answer.mode, answer.refusal, answer.answer) == ("selection", "not_in_selection", NOT_IN_SELECTION)


@pytest.mark.row("C-US2-3", "C-SC-002")
@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What must loss of power lead to?", "hurts nobody"),
        ("What does every joint have?", "an encoder"),
        ("How far does the gripper of Perle open?", "73 mm"),
    ],
)
def test_every_paragraph_of_a_selection_is_used(reader: Reader, question: str, words: str) -> None:
    """The first, the second and the third; the last is not the book's at all."""
    answer = reader.answer("/query-selected-text", question=question, selected_text=PARAGRAPHS)
    assert (answer.mode, answer.refusal) == ("selection", None)
    assert words in answer.answer


@pytest.mark.row("C-EC-5")
def test_an_unusable_selection_means_the_whole_book(house: House) -> None:
    """The book answers, the reader is told, and so is the log."""
    answer = house.reader.answer("/query-selected-text", question="What is a costmap?", selected_text=" \n ")
    assert answer.mode == "book"
    assert "The selected text is empty or unusable, so the whole book was searched." in answer.warnings
    assert ends_with({source.filename for source in answer.sources}, "/03-costmaps.mdx")
    assert '"selection_unusable"' in house.log.read_text("utf-8")


@pytest.mark.row("C-EC-6")
def test_a_long_selection_is_cut_and_said(reader: Reader) -> None:
    """Two pages are more than 2000 tokens: the beginning answers, what lies beyond the cut does not."""
    pages = "\n\n".join((CORPUS / "physical-ai" / name).read_text("utf-8") for name in (IK, SAFETY, SAFETY))
    text = pages + "\n\nThe gripper of our own robot Perle opens 73 mm."
    answer = reader.answer("/query-selected-text", question="What is inverse kinematics?", selected_text=text)
    assert "The selected text was cut to 2000 tokens at a sentence end." in answer.warnings
    assert "is the computation of the joint angles" in answer.answer
    beyond = reader.answer("/query-selected-text", question="How far does Perle's gripper open?", selected_text=text)
    assert "73 mm" not in beyond.answer


@pytest.mark.row("C-US3-1", "C-US3-2", "C-SC-006", "C-FR-017")
def test_five_conversations_are_listed_restored_and_gone_on_with(reader: Reader) -> None:
    """One browser's list holds its five conversations; each is whole, and a follow-up in it keeps its topic."""
    secret = browser()
    topics = {
        "What is a costmap?": "/03-costmaps.mdx",
        "What is inverse kinematics?": "/02-inverse-kinematics.mdx",
        "What is domain randomisation?": "/04-domain-randomisation.mdx",
        "What is the sensorimotor loop?": "/02-sensorimotor-loop.mdx",
        "What is embodied intelligence?": "/03-embodied-intelligence.mdx",
    }
    begun = {new_session(): question for question in topics}
    told = {session: reader.chat(session, question, **secret)["answer"] for session, question in begun.items()}
    listed = reader.client.get("/sessions", headers=secret).json()["sessions"]
    assert [entry["id"] for entry in listed] == list(begun)[::-1]
    assert [entry["title"] for entry in listed] == list(topics)[::-1]
    for session, question in begun.items():
        assert [message["text"] for message in reader.history(session, **secret)] == [question, told[session]]
        more = reader.chat(session, "Tell me more", **secret)
        assert ends_with(more["sources"], topics[question])
    assert reader.client.get("/sessions", headers=browser()).json()["sessions"] == []


@pytest.mark.row("C-FR-003")
def test_each_book_and_version_has_a_namespace(house: House) -> None:
    """Two books, two collections, each named by its slug and version."""
    names = [newest(house.data_dir, slug)["collection"] for slug in (SLUG, HANDBOOK)]
    assert len(set(names)) == 2
    assert names[0].startswith(f"{SLUG}-v")
    assert names[0].endswith("v1")


@pytest.mark.row("C-FR-005", "C-FR-008")
def test_five_passages_ranked_anew(reader: Reader) -> None:
    """Five by default, in order of relevance, which is not the cosine alone."""
    found = reader.passages("How do I keep a walking robot from falling over?")
    scores = [passage["score"] for passage in found]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.row("C-FR-006")
def test_chapter_and_module_narrow_the_search(reader: Reader) -> None:
    """With a chapter or a part named, every source is from there; an unknown one is refused with those there are."""
    question = {"question": "How does a robot know where it is?", "book": SLUG}
    inside = reader.answer("/query", chapter="Chapter 9", **question)
    assert {chapter.split(":")[0] for chapter in chapters(inside)} == {"Chapter 9"}
    part = reader.passages(question["question"], module="Part 4", book=SLUG)
    assert {passage["metadata"]["module"] for passage in part} == {"Part 4: Perception and Motion"}
    assert "Chapter 1: Embodied Intelligence" in reader.detail(422, "/query", chapter="Chapter 99", **question)


@pytest.mark.row("C-FR-013")
def test_a_book_is_ingested_over_http(reader: Reader) -> None:
    """With the token a job starts, tells its progress and ends with its figures; without it nothing happens."""
    assert reader.client.post("/ingest").status_code == httpx.codes.FORBIDDEN
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    started = reader.client.post("/ingest", headers=allowed)
    assert started.status_code == httpx.codes.ACCEPTED
    end_s = time.monotonic() + JOB_S
    job = started.json()
    while job["state"] == "running" and time.monotonic() < end_s:
        time.sleep(0.2)
        job = reader.client.get(started.headers["location"], headers=allowed).json()
    assert (job["state"], job["detail"]) == ("done", None)
    assert job["summary"]["failed"] == 0
    assert job["summary"]["unchanged"] > 50


@pytest.mark.row("C-FR-016")
def test_health(reader: Reader) -> None:
    """The service says that it is there."""
    assert reader.client.get("/health").status_code == OK


@pytest.mark.row("C-SC-003")
def test_questions_outside_the_book_are_refused(reader: Reader, outside: Replies) -> None:
    """Fewer than 5% of all far and near questions of the collection get anything but a refusal, at `/query` as well."""
    replies = {**outside["far"], **outside["near"]}
    answered = [text for text, reply in replies.items() if reply["kind"] != "refusal"]
    assert len(answered) / len(replies) < 0.05, answered
    for text in [*answered, *list(replies)[::10]]:
        assert reader.answer("/query", question=text).kind == replies[text]["kind"], text


@pytest.mark.row("C-EC-1")
@pytest.mark.parametrize("path", ["/query", "/query-selected-text"])
def test_an_empty_question(reader: Reader, path: str) -> None:
    """Nothing, or nothing but blanks."""
    for question in ("", "  \n"):
        fields = {"question": question, "selected_text": PRINCIPLES}
        assert reader.detail(422, path, **fields) == "Please enter a question."


@pytest.mark.row("C-EC-4", "C-NFR-007")
def test_the_eleventh_question_of_a_minute(growth: Growth) -> None:
    """Ten are answered, the eleventh is told exactly when to come again; another session is not concerned."""
    session, client = new_session(), growth.reader.client
    for _ in range(10):
        growth.reader.chat(session, "What is the sensorimotor loop?")
    refused = client.post("/chat", json={"session_id": session, "message": "What is a sensor?"})
    assert refused.status_code == httpx.codes.TOO_MANY_REQUESTS
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.json()["retry_after_s"] == int(refused.headers["retry-after"])
    growth.reader.chat(new_session(), "What is the sensorimotor loop?")


@pytest.mark.row("C-NFR-008")
def test_no_word_of_a_conversation_is_readable_on_the_disk(house: House) -> None:
    """A word that was asked is in no file of the data folder."""
    needle = "quokkaphone"
    house.reader.chat(new_session(), f"What is a costmap? {needle}")
    for path in house.data_dir.rglob("*"):
        assert not path.is_file() or needle.encode() not in path.read_bytes(), path


@pytest.mark.row("C-NFR-009")
def test_every_question_has_a_line(house: House) -> None:
    """The log grows by one line a question, which has its outcome and not its words."""
    before = house.log.read_text("utf-8").count('"event": "question"')
    house.reader.answer("/query", question="What is a kumquatometer?")
    log = house.log.read_text("utf-8")
    assert log.count('"event": "question"') == before + 1
    assert "kumquatometer" not in log
