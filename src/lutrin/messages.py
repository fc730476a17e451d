"""Every text that the program's code says to a reader, by name: answers, notes, refusals, failures, labels.

The texts are part of the contract: clients compare them, translations replace them. `{title}` is the book's title.
What stands in the templates and scripts of pages is not here yet; `tests/test_messages.py` counts it.
"""

EMPTY_QUESTION = "Please enter a question."
QUESTION_TOO_LONG = "The question is longer than {limit:,} characters. Please shorten it."
SELECTION_TOO_LONG = "The selected text is longer than {limit:,} characters. Please select less."
EMPTY_SELECTION = "The selected text is empty or unusable, so the whole book was searched."
QUESTION_TRUNCATED = "Your query was truncated to 500 words. Please be more concise."
SELECTION_TRUNCATED = "The selected text was cut to 2000 tokens at a sentence end."
RESPELLED = 'Searched for "{other}" instead of "{word}".'
NOT_ENGLISH = "Please ask your question in English."
NEEDS_CONTEXT = "I need more context. Please ask a specific question about the textbook content."

OUT_OF_SCOPE_TUTOR = "As an AI tutor for '{title}', I can only answer questions related to the book's content."
NOT_COVERED = "This topic is not covered in the {title} textbook."
NOT_FOUND_CHAT = "I couldn't find that in the book. Please check the relevant chapter."
NOT_IN_BOOK = "I don't have information about that in the textbook. Please ask about topics covered in the book."
NOT_IN_SELECTION = "The selected text does not contain the answer."

KNOWLEDGE_BASE_DOWN = "The knowledge base is temporarily unavailable. Please try again in a moment."
STOPPED = "The answer was stopped."
SOMETHING_WRONG = "Something went wrong. Please try again."
TOO_MANY_QUESTIONS = "You have asked many questions in a short time. Please wait a moment."
TOO_MUCH_WORK = "Your network has sent too many costly requests in a short time. Please wait a moment."
PAGE_AS_TEXT = "This page takes too long to typeset. Here is its text as it stands in the book's file."
BODY_TOO_LARGE = "The request is larger than 64 KiB."
HEAD_TOO_LARGE = "The request headers are too large."
NOT_HTTP = "The request is not valid HTTP."
TOO_SLOW = "The request took too long to arrive. Please try again."
UPLOAD_TOO_LARGE = "The upload is larger than 512 MB. Send the book in parts, or put it into the corpus folder."
MALFORMED_BODY = "The request body is not valid JSON in UTF-8."
MALFORMED_FORM = "The form did not arrive whole. Please send it again."
BODY_TOO_DEEP = "The request body is nested too deeply."
NOT_JSON = "Send JSON with the header Content-Type: application/json."
FOREIGN_ORIGIN = "Pages from {origin} may not ask this server. Its operator can add {origin} to LUTRIN_CORS_ORIGINS."
SHOWN_ELSEWHERE = "Pages of other sites may link to this page, but not embed it."
WRONG_HOST = "This server does not answer under that host name."
NOTHING_HERE = "There is nothing by that name here."
CLIENT_SECRET_MISSING = "The header X-Lutrin-Client with this browser's secret is missing."  # noqa: S105 - a message
NOT_SAVED = "This conversation could not be saved."
NOT_SAVED_DISK = "This conversation could not be saved: the server's disk is nearly full."
NOT_REMEMBERED = "This conversation could not be saved: the server cannot read its conversations at present."
NOT_STORING = "The last question could not be stored; `lutrin doctor` says why. Answers continue meanwhile."
DISK_LOW = (
    "Only {free_mb} MB are free on the disk, less than LUTRIN_FREE_SPACE_MB={floor_mb}, so conversations are not "
    "stored. Free some space; answers continue meanwhile."
)
CONVERSATION_FULL = "This conversation is full and is no longer saved. Please begin a new one."
PEER_FULL = (
    "This conversation is not saved: clients without a browser's secret have used up what your network may store "
    "in a day."
)
READER_FULL = "Your conversations have used up your storage. Delete one to save new ones."
BOOK_NOT_HERE = "The files of this book cannot be deleted: {reason}."
NO_NETWORK = "This computer is in no network yet. Connect it to the network of the class, then try again."
DOOR_TAKEN = "Another program uses port {port} in this network. Close that program, or start Lutrin with another port."
PASSWORD_TOO_SHORT = "A password needs at least {least} characters."  # noqa: S105 - a message, not a secret
WRONG_CODE = "That is not the code in the window where Lutrin was started. It has eight digits."
INGEST_LEFT = "The server that ran this ingestion has stopped. Start the ingestion again."
INGEST_IN_PROGRESS = "Ingestion already in progress."
INGEST_OFF = "Ingestion over HTTP is off. Set LUTRIN_ADMIN_TOKEN to switch it on."
METRICS_OFF = "These figures need the administration token. Set LUTRIN_ADMIN_TOKEN to read them."
ASSIGNMENT_OVER = "This assignment is over: your teacher has put it away."
ASSIGNMENT_FULL = "This assignment has counted as many results as it can."
TEACHER_OFF = "The teacher's page is off. Set LUTRIN_ADMIN_TOKEN to switch it on."
PAGE_EXPIRED = "Please load the page again and sign in."
TOO_MANY_ATTEMPTS = "There were too many wrong attempts. Please wait a moment."
BOOK_FIRST = (
    "On this question the book's own words have to stand first, such as its warning, so no answer can be pinned to it."
)
WRONG_TOKEN = "The administration token is missing or wrong."  # noqa: S105 - a message, not a secret
WRONG_PASSWORD = "That is not the password of this server."  # noqa: S105 - a message, not a secret

CODE_WITHHELD = (
    "The book shows code for this that moves real hardware, but gives no safety warning with it, "
    "so the code is not repeated here. Please read it in the book with your teacher."
)
LISTING = ("Lines", "Code", "What its comments and the book say")
CAUTION = "Take care: this concerns real equipment."
PART_NOT_COVERED = 'No passage was found for this part of the question: "{part}".'
NO_SUCH_FORM = {
    "example": "The book's own words, with an example if it gives one here:",
    "analogy": "The book's own words, with a comparison if it draws one here:",
    "simpler": "The book's own words, not simplified:",
    "summary": "The book's own words, not a summary:",
    "quiz": "The book's own words on it:",
    "compute": "The book's own words; nothing is calculated:",
}
YOUR_TEACHER = "your teacher"
"""Who prepared what the teacher wrote or mended, as pupils read it."""
ON_PAGE = "This page is about *{title}*."
PAGE_HAS = "Its sections: {titles}."
LIKELY_MARK = "†"
"""Behind a sentence that is not word for word in the book."""
LIKELY_NOTE = "† Not word for word in the book; compare the passage."
CLOSEST_PASSAGE = "The closest passage, it may not answer:"
IN_OTHER_WORDS = "**In other words** (the model's own, not the book's):"
SECTION_IN_SHORT = "**{title}**, in short:"
NOTHING_MORE = "The book says no more about this here."
STANDS_IN_BOOK = "The book says, in the section *{section}*:"
QUESTIONS_ON = "Questions on **{title}**:"
PREPARED_IN_OTHER_WORDS = "**In other words** (by {author}, not the book's):"
SIMULATION_MIXED = (
    "Some of these passages describe simulation ({simulated}), others real hardware ({real}). They may differ."
)
RECOGNIZED_TEXT = "This text was recognised from a picture of the page and may differ from it: compare the page itself."
IN_PLAIN_WORDS = "**In plain words**"
PASSAGE_ANSWERS = "The passage answers it:"
PAST_DEADLINE = (
    "The explanation did not begin in time. The book's answer stands; you can ask for the explanation again."
)
MODEL_AWAY = "The model is not available right now. The book's answer stands."
EXPLAINS_LATER = "This computer is busy, so explanations are slow now: ask for one, or read on."
NOT_FITTED = (
    "This model finds passages, but the values fitted to Lutrin's own model do not apply to it: no sentence of a "
    "language model counts as stated, and prepared questions match by their own words only."
)

MISSING_VARIABLE = "Required environment variable {name} not set."

# Answers on the book itself.
I_AM = (
    "I am Lutrin, the tutor of *{title}*. I answer questions from this book alone and show the passage that each "
    "answer rests on. Ask about anything the book covers, or select a passage and ask about that."
)
NO_SUCH_CHAPTER = "The book does not name a chapter “{chapter}”. {contents}"
NOT_THIS_CHAPTER = "The book does not name this chapter. {contents}"
CHAPTER_OF_ONE_PAGE = "**{chapter}** is one page, “{page}”."
CHAPTER_HAS = "**{chapter}** has {count} sections:"
BOOK_HAS_ONE = "*{title}* has 1 chapter:"
BOOK_HAS = "*{title}* has {count} chapters:"
MORE_OF_THEM = "- and {count} more"
NO_SUCH_PART = "The book has no {kind} named {name}. It has: {names}."
NONE_OF_THEM = "none"
SELECTED_TEXT = "Selected text"
TERM_QUESTION = "What is {name}?"
"""Under which a term of a book is asked for and kept."""
MEANING_QUESTION = "What does {name} mean?"
"""In place of a question for the long name of an abbreviation."""

# Conversations that are kept as a file.
SPEAKERS = {"user": "Reader", "assistant": "Book"}
CONVERSATION = "Conversation"

# Pages for readers.
TROUBLES = {
    400: "This address does not work",
    403: "Not permitted",
    404: "Page not found",
    405: "Page not found",
    409: "Not just now",
    500: "An error on this server",
    503: "Not available right now",
}
"""Headings of the pages for failures, by status."""
OFFLINE_TITLE = "No network"
OFFLINE = "This page has not been opened in this browser before, so it is not here. What was opened is."
BOOKS = "Books"
PAGE = "Page {label}"
PAGES = "Pages {first} to {last}"
LINK_TO = "Link to: {title}"
TABLE = "Table"
DIAGRAM = "Diagram"
DIAGRAM_AS_TEXT = "Diagram as text"
DIAGRAM_IN_WORDS = "Diagram: {edges}."
EDGE = "{start} to {end}{label}"
NO_START, NO_END = "start", "end"
IN_CODE = "In a piece of code."
"""Stands for code that says nothing in words and that no words introduce."""
CARD_KINDS = {
    "question": "Question",
    "choice": "Choose",
    "term": "Term",
    "gap": "Fill the gap",
    "list": "Name them",
    "table": "Look up",
    "exercise": "Exercise of the book",
}
SEE_THE_BOOK = "See the book."

# How far the books are read.
JOB_STATES = {
    "waiting": "Waits until the books have been read.",
    "running": "Reading the books…",
    "done": "The books have been read.",
    "failed": "It did not work.",
}
SO_FAR = " {parts} so far, the last one: {last}."
ONE_UPLOAD_WAITS = " {uploads} waits and will be read next."
UPLOADS_WAIT = " {uploads} wait and will be read next."
FILES_COUNTED = {"processed": "read", "unchanged": "unchanged", "removed": "gone", "failed": "could not be read"}
NO_FILES = "Send at least one file in the field files of a form (multipart/form-data)."

# The teacher's pages.
NO_SUCH_BUTTON = "There is no such button."
CHOOSE_HINTS = "Choose whether pupils get hints: off, offered or first."
BOOK_TITLE_TOO_LONG = "A title has at most {title} characters, the line below it {line}."
NOTHING_TO_DO = "Choose at least one page, card or question."
NO_TITLE = "Give the assignment a title."
ASSIGNMENT_TITLE_TOO_LONG = "A title has at most {title} characters, the note {note}."
ASSIGNMENT_TOO_LARGE = {
    "pages": "An assignment has at most {most} pages. Make two of it.",
    "cards": "An assignment has at most {most} cards. Make two of it.",
    "questions": "An assignment has at most {most} questions. Make two of it.",
}
WORDING_TOO_LONG = "A wording is a question of at most {most} characters."
WRITTEN_TO = "This is the question that the answer was written to. Hide the answer instead."
CANNOT_BE_KEPT = "This cannot be kept: {problem}."
LONG_QUESTION = "the question is too long"
NOTHING_TO_PIN = "The book says nothing on this question, so no answer can be pinned to it."
TRIAL_QUESTION = "What does the book say on {title}?"
ENTRY_STATES = {"proposed": "not read yet", "approved": "approved", "hidden": "hidden"}
ENTRY_KINDS = {
    "keypoints": "Key points",
    "term": "Term",
    "question": "Question",
    "explanation": "Explanation",
    "simpler": "Simpler words",
    "example": "Example",
    "analogy": "Analogy",
    "quiz": "Quiz",
}
DOCTOR_SLOW = "It took more than {seconds:.0f} s."
DOCTOR_FAILED = "`lutrin {command}` did not end as it should."
QUESTIONS_HEADER = ("answered at (UTC)", "book", "chapter", "question", "answer", "outcome", "thumb", "comment")
ANSWERS_CALLED = {"generated": "explained", "extractive": "quoted", "refusal": "not in the book", None: ""}
FIGURES = {
    "answers": "Questions answered",
    "generated": "explained by the model, checked against the book",
    "quoted": "answered in the book’s own words",
    "refused": "not in the book",
    "first": "Time to the first words: median, 95th percentile",
    "whole": "Time to the whole answer: median, 95th percentile",
    "limited": "Questions put off because they came too fast",
    "failed": "Questions that failed",
}
NONE_YET = "none yet"
MEDIAN_AND_95TH = "{median} and {high}"
OVER_30_S = "more than 30 s"
NOBODY_ASKS = "Nobody is asking at the moment."
ASKED_LATELY = "{readers} asked in the last five minutes"
ONE_WRITTEN, MANY_WRITTEN = "{answers} is being written", "{answers} are being written"
ONE_WAITS, MANY_WAIT = "{readers} waits for the model", "{readers} wait for the model"
STUDIED_SO_FAR = "{done} of {all} passages studied. Last by {author}: {figures}."
