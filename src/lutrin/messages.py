"""Every text that the program's code says to a reader, by name: answers, notes, refusals, failures, labels.

The texts are part of the contract: clients compare them, translations replace them. `{title}` is the book's title.
Where a text depends on a number, its forms are named as in Unicode's plural rules (`plural`).
"""


def plural(number: int) -> str:
    """The form of a text that stands with a number; English has two.

    >>> plural(1), plural(0)
    ('one', 'other')
    """
    return "one" if number == 1 else "other"


COUNTED = {
    "answer": {"one": "{number} answer", "other": "{number} answers"},
    "book": {"one": "one book", "other": "{number} books"},
    "card": {"one": "{number} card", "other": "{number} cards"},
    "chapter": {"one": "{number} chapter", "other": "{number} chapters"},
    "entry": {"one": "{number} entry", "other": "{number} entries"},
    "file": {"one": "{number} file", "other": "{number} files"},
    "page": {"one": "{number} page", "other": "{number} pages"},
    "part": {"one": "{number} part", "other": "{number} parts"},
    "place": {"one": "One place", "other": "{number} places"},
    "question": {"one": "{number} question", "other": "{number} questions"},
    "reader": {"one": "{number} reader", "other": "{number} readers"},
    "term": {"one": "{number} term", "other": "{number} terms"},
    "upload": {"one": "{number} upload", "other": "{number} uploads"},
}
"""Things with their number."""

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
"""Author of entries that the teacher wrote or corrected, as pupils see it."""
ON_PAGE = "This page is about *{title}*."
PAGE_HAS = "Its sections: {titles}."
NO_CODE_HERE = "This page shows no code."
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
"""Replacement of a question for the long name of an abbreviation."""

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
UPLOADS_WAIT = {
    "one": " {uploads} waits and will be read next.",
    "other": " {uploads} wait and will be read next.",
}
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
    "list": "List",
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
ANSWERS_WRITTEN = {"one": "{answers} is being written", "other": "{answers} are being written"}
READERS_WAIT = {"one": "{readers} waits for the model", "other": "{readers} wait for the model"}
STUDIED_SO_FAR = "{done} of {all} passages studied. Last by {author}: {figures}."

# Texts of the pages, by template and first words. Markup is kept; values filled in are escaped.
SCRIPT_TEXTS = {
    "box.ask": "Ask",
    "box.ask_for": "Ask:",
    "box.enter": "Enter",
    "box.wrong": SOMETHING_WRONG,
    "box.nothing": "Nothing in the book is near that.",
    "box.arrow_keys_choose": "{places}. Arrow keys choose.",
    "margin.lost": "These words are no longer on this page.",
    "margin.gone": "This page is no longer in the book.",
    "margin.none": "Nothing yet. Select text on a page of this book, then choose Highlight or Note.",
    "margin.only": "Only this browser keeps what you mark and write.",
    "margin.marked": "Highlighted. Only this browser keeps it.",
    "margin.long": "That is too much to mark at once.",
    "margin.outside": "Only the text of the page can be marked.",
    "margin.full": "This browser has no room for more. Export and delete some notes first.",
    "margin.note": "Note: {words}",
    "margin.highlight": "Highlight: {words}",
    "margin.your_note": "Your note",
    "margin.nothing_written": "Nothing written: the passage is only highlighted.",
    "margin.delete": "Delete",
    "margin.done": "Done",
    "margin.deleted": "Deleted.",
    "margin.undo": "Undo",
    "margin.highlights_and_notes": "Highlights and notes",
    "margin.highlights_and_notes_here": "Highlights and notes: {all}",
    "margin.close": "Close",
    "margin.export": "Export as Markdown",
    "margin.delete_all": "Delete all",
    "margin.delete_all_for_good": "Delete all for good?",
    "margin.all_deleted": "All deleted.",
    "margin.notes_on": "Notes on {title}",
    "page.copied": "Copied",
    "page.copy": "Copy",
    "page.copy_this_code": "Copy this code",
    "page.close": "Close",
    "page.contents": "Contents",
    "page.tap_again": "Tap again to go there.",
    "page.parts": "Parts",
    "page.previous": "Previous",
    "page.next": "Next",
    "reader.continue_reading": "Continue reading",
    "reader.https_keeps_pages": (
        "To read and practise without a network, open this server by an https address; over plain http browsers keep "
        "no pages."
    ),
    "reader.opened_pages_stay": "Pages and cards that you have opened in this browser stay here without a network.",
    "reader.remove_from_device": "Remove it from this device",
    "reader.keep_offline": "Keep this book offline",
    "reader.pages_are_here": "{kept} of {of} pages are here.",
    "reader.whole_book_is_here": "The whole book is here, also without a network.",
    "reader.model_is_loading": "The language model is loading. Until then, answers are the books’ own words.",
    "teacher.ready": "{files}, ready to be sent.",
    "teacher.sending": "Sending",
    "teacher.sending_now": "Sending…",
    "teacher.wrong": SOMETHING_WRONG,
    "teacher.received": "{files} received for {books}, being read now.",
    "teacher.received_for_later": "{files} received for {books}, to be read next.",
    "teacher.left_out": "Left out: {filename}, {reason}",
    "teacher.none_yet": NONE_YET,
}
"""Texts of the pages' scripts (`serve/static/texts.js`); the widget's are in `web/widget/src/texts.ts`."""

PAGE_TEXTS = {
    "base.lutrin": "Lutrin",
    "base.skip_to_the_text": "Skip to the text",
    "book.lutrin": "Lutrin",
    "book.practise": "Practise",
    "book.keep_this_book_offline": "Keep this book offline",
    "book.contents_of": "Contents of {title}",
    "interface.or": "or",
    "interface.array_of": "array of {value}",
    "interface.interface": "{value}: interface",
    "interface.the_openapi_document": "The OpenAPI document",
    "interface.operations": "Operations",
    "interface.in": "in {value}: {value2}",
    "interface.body": "Body: {value}",
    "interface.replies": "Replies:",
    "interface.shapes": "Shapes",
    "interface.optional": "(optional)",
    "parts.the_book": "the book",
    "parts.the_books": "the books",
    "parts.search": "Search {what}",
    "parts.search_2": "Search",
    "parts.this_book": "this book",
    "parts.search_or_ask": "Search or ask {what}",
    "parts.results": "Results",
    "parts.contents": "Contents",
    "parts.search_or_ask_2": "Search or ask",
    "parts.ctrl_k": "Ctrl K",
    "parts.text_size_colours_and_hints": "Text size, colours and hints",
    "parts.aa": "Aa",
    "parts.text": "Text",
    "parts.small": "Small",
    "parts.normal": "Normal",
    "parts.large": "Large",
    "parts.largest": "Largest",
    "parts.colours": "Colours",
    "parts.as_the_device": "As the device",
    "parts.light": "Light",
    "parts.dark": "Dark",
    "parts.hints_before_answers": "Hints before answers",
    "parts.as_the_book": "As the book",
    "parts.off": "Off",
    "parts.offered": "Offered",
    "parts.first": "First",
    "parts.highlights_and_notes": "Highlights and notes",
    "parts.share_this_place": "Share this place",
    "parts.qr_code_of_this_address": "QR code of this address",
    "parts.only_this_computer_can_open": (
        "Only this computer can open this address. Start the server with <code>lutrin serve --lan</code> to "
        "let others in: the teacher’s page then shows the address for them."
    ),
    "parts.copy_the_link": "Copy the link",
    "parts.print": "Print",
    "parts.choose": "choose",
    "parts.enter": "Enter",
    "parts.open_or_ask": "open, or ask",
    "parts.esc": "Esc",
    "parts.close": "close",
    "parts.introduction": "Introduction",
    "parts.of_this_section": "Of this section",
    "parts.key_points": "Key points",
    "parts.terms": "Terms",
    "parts.check_yourself": "Check yourself",
    "parts.answer": "Answer",
    "reading.contents": "Contents",
    "reading.read_aloud": "Read aloud",
    "reading.bookmark": "Bookmark",
    "reading.quiz_me": "Quiz me",
    "reading.pages": "Pages",
    "reading.previous": "Previous",
    "reading.next": "Next",
    "search.search": "Search",
    "search.results_for": "Results for “{typed}”",
    "search.nothing_in_is_near_that": "Nothing in {value} is near that. Try another word for it, or fewer words.",
    "search.the_book": "the book",
    "search.the_books": "the books",
    "shelf.lutrin": "Lutrin",
    "shelf.the_book_that_answers": "The book that answers",
    "shelf.books_that_answer": "Books that answer",
    "shelf.read_look_things_up_or": (
        "Read, look things up, or ask in your own words. Every answer comes from {value} and links to the "
        "passage it rests on."
    ),
    "shelf.questions_to_begin_with": "Questions to begin with",
    "shelf.books": "Books",
    "shelf.practise": "Practise",
    "shelf.contents_of": "Contents of {title}",
    "shelf.welcome": "Welcome",
    "shelf.this_page_shows_them_as": (
        "This page shows them as soon as the first one is ready. It looks again by itself."
    ),
    "shelf.this_is_a_shelf_for": "This is a shelf for books that answer questions. No book is on it yet.",
    "shelf.this_book": "this book",
    "shelf.these_books": "these books",
    "study_deck.cards": "Cards",
    "study_deck.cards_2": "{heading} · Cards · {title}",
    "study_deck.the_cards_of_this_page": "The cards of this page.",
    "study_deck.back_to_the_page": "Back to the page",
    "study_deck.chapter": "Chapter",
    "study_deck.show": "Show",
    "study_deck.sitting_of": "Sitting {sitting} of {sittings}",
    "study_deck.this_page_has_no_cards": "This page has no cards of its own.",
    "study_deck.cards_of_the_whole_book": "Cards of the whole book",
    "study_deck.no_cards_here": "No cards here.",
    "study_deck.read_again": "Read again",
    "study_deck.if_an_answer_surprised_you": "If an answer surprised you, read its section:",
    "study_deck.next_sitting": "Next sitting",
    "study_deck.that_was_the_last": "That was the last {value}",
    "study_deck.of_this_page": "of this page",
    "study_deck.of_this_chapter": "of this chapter",
    "study_deck.back_to_the_chapters": "Back to the chapters",
    "study_glossary.glossary": "Glossary",
    "study_glossary.this_book_marks_no_terms": "This book marks no terms.",
    "study_guide.key_points": "Key points",
    "study_guide.introduction": "Introduction",
    "study_guide.this_book_has_no_sections": "This book has no sections with text.",
    "study_parts.show_the_answer": "Show the answer",
    "study_parts.by": "· by {author}",
    "study_parts.what_does_mean": "What does “{front}” mean?",
    "study_study.practise_with": "Practise with {title}",
    "study_study.and": "and {term}",
    "study_study.each_links_to_its_passage": ". Each links to its passage.",
    "study_study.practise_what_is_due_today": "Practise what is due today",
    "study_study.cards": "Cards: {name}",
    "study_study.cards_2": "Cards",
    "study_study.worksheet": "Worksheet: {name}",
    "study_study.worksheet_2": "Worksheet",
    "study_study.download_the_cards": "Download the cards",
    "study_study.deck_for_anki": "Deck for Anki",
    "study_study.table_csv": "Table (CSV)",
    "study_study.this_book_has_nothing_to": (
        "This book has nothing to practise with: it has no exercises, lists, tables or terms in bold, and "
        "nobody has prepared any. A <code>companion.jsonl</code> beside it adds cards."
    ),
    "study_today.due_today": "Due today",
    "study_today.cards_of_the_whole_book": (
        "Cards of the whole book that you have practised and are about to forget, and those that you added "
        "yourself. Only this browser remembers them."
    ),
    "study_today.this_page_needs_scripts_only": "This page needs scripts: only your browser knows which cards are due.",
    "study_today.all_cards_open_without": '<a href="/study/{book}/deck">All cards</a> open without.',
    "study_today.nothing_is_due": "Nothing is due.",
    "study_today.learn_new_cards_or_add": (
        '<a href="/study/{book}/deck">Learn new cards</a>, or add the question below an answer to your cards.'
    ),
    "study_today.cards_that_you_added": "Cards that you added",
    "study_worksheet.worksheet": "Worksheet",
    "study_worksheet.name": "Name",
    "study_worksheet.date": "Date",
    "study_worksheet.there_are_no_questions_for": "There are no questions for a worksheet here.",
    "study_worksheet.answers": "Answers: {heading}",
    "study_worksheet.see": "See “{section}”.",
    "study.practice": "Practice",
    "study.due_today": "Due today",
    "study.cards": "Cards",
    "study.glossary": "Glossary",
    "study.key_points": "Key points",
    "study.worksheet": "Worksheet",
    "trouble.lutrin": "Lutrin",
    "trouble.the_address_may_be_mistyped": (
        "The address may be mistyped, or the page was renamed when the book was read again."
    ),
    "trouble.try_again": "Try again",
    "trouble.to_the_teacher_s_page": "To the teacher’s page",
    "trouble.to_the_books": "To the books",
    "trouble.opened_in_this_browser": "Opened in this browser",
    "trouble.error_number": "Error number:",
    "assignment.name": "Name",
    "assignment.date": "Date",
    "assignment.how_far_you_are": "How far you are",
    "assignment.your_teacher_sees_numbers_never": "Your teacher sees numbers, never who you are.",
    "assignment.without_scripts_this_page_cannot": (
        "Without scripts this page cannot count what you have done; everything on it can be read and printed."
    ),
    "assignment.read": "Read",
    "assignment.learn": "Learn",
    "assignment.answer": "Answer",
    "assignment.the_word_that_is_left": "The word that is left out",
    "assignment.your_answer_it_stays_in": "Your answer; it stays in this browser",
    "assignment.show_the_answer": "Show the answer",
    "assignment.answers": "Answers: {title}",
    "assignment.see": "See “{section}”.",
    "teacher.on_the_last_days": "{days} on the last {days2} days",
    "teacher.more": "{items} more",
    "teacher.pinned": "{value} pinned",
    "teacher.nothing_yet": "nothing yet",
    "teacher.times": "{times} times",
    "teacher.helpful": "{up} helpful",
    "teacher.not_helpful": "{down} not helpful",
    "teacher.answered_by_you": "answered by you",
    "teacher.it_is_right": "It is right",
    "teacher.write_the_answer": "Write the answer",
    "teacher.edit_or_pin_it": "Edit or pin it",
    "teacher.the_books": "The books",
    "teacher.sign_out": "Sign out",
    "teacher.teacher_s_page": "Teacher’s page",
    "teacher.let_the_class_in": "Let the class in",
    "teacher.show_the_qr_code_of": "Show the QR code of {address} large",
    "teacher.scan_the_code_with_a": (
        "Scan the code with a phone, or type the address. It works in the network of this school, without the internet."
    ),
    "teacher.show_it_large": "Show it large",
    "teacher.close_the_door": "Close the door",
    "teacher.whoever_set_up_this_server": "Whoever set up this server lets the network in for good.",
    "teacher.only_this_computer_can_open": (
        "Only this computer can open the books now. Open the door, and everybody in your network can, until "
        "you close it."
    ),
    "teacher.only_this_computer_can_open_2": "Only this computer can open the books now.",
    "teacher.what_the_class_asks": "What the class asks",
    "teacher.nobody_has_asked_anything_yet": (
        "Nobody has asked anything yet. Questions appear here by chapter, without names."
    ),
    "teacher.without_names": "{question}, without names.",
    "teacher.all_are_from_today": "All are from today.",
    "teacher.each_bar_is_a_day": "Each bar is a day; the first is {day} {value}.",
    "teacher.all_as_a_table": "All as a table",
    "teacher.led_to_no_passage": "{question} led to no passage.",
    "teacher.how_they_were_answered": "How they were answered",
    "teacher.missed_refused_or_rated_not": (
        "Missed: refused, or rated not helpful. Doubtful: only the closest passage was shown, the book may "
        "well not answer it, or the reader asked again. What you decide takes effect at once."
    ),
    "teacher.your_books": "Your books",
    "teacher.reading_the_books": "Reading the books",
    "teacher.books": "Books",
    "teacher.hidden": "Hidden.",
    "teacher.in": "in {chapter}",
    "teacher.read": ", read {time}",
    "teacher.left_out": "{value} left out.",
    "teacher.its_files_are_not_in": (
        "Its files are not in the books’ folder at the moment; perhaps a disk was pulled out. Pupils can go "
        "on with it. If it is not to come back, remove it."
    ),
    "teacher.prepared_answers_and_cards": "Prepared answers and cards",
    "teacher.read_them": "Read them",
    "teacher.report_name_removal": "Report, name, removal",
    "teacher.try_it": "Try it",
    "teacher.move": "Move ",
    "teacher.no_book_has_been_read": "No book has been read yet. Add one here.",
    "teacher.removed": "Removed",
    "teacher.nobody_sees_it": "nobody sees it",
    "teacher.bring_it_back": "Bring it back",
    "teacher.bring_it_back_2": "Bring it back: ",
    "teacher.add_books": "Add books",
    "teacher.drag_files_or_a_folder": "Drag files or a folder here, or choose them.",
    "teacher.choose_files": "Choose files",
    "teacher.choose_a_folder": "Choose a folder",
    "teacher.several_at_once_or_a": "{formats}; several at once, or a folder, also as one .zip.",
    "teacher.each_file_is_a_book": "Each file is a book of its own",
    "teacher.name_of_the_book": "Name of the book",
    "teacher.as_the_file_or_folder": "as the file or folder is called",
    "teacher.replace_a_book_of_this": "Replace a book of this name",
    "teacher.send_and_read": "Send and read",
    "teacher.files_that_lie_in_the": "Files that lie in the books’ folder on this computer",
    "teacher.what_somebody_put_there_or": (
        "What somebody put there, or changed, is read when you press the button. Only what changed is read, "
        "and pupils go on meanwhile."
    ),
    "teacher.read_the_books_again": "Read the books again",
    "teacher.assignments": "Assignments",
    "teacher.pages_to_read_cards_to": (
        "Pages to read, cards to learn and questions to answer, behind a link. Nobody signs in, and nobody is known."
    ),
    "teacher.of_finished": "{finished} of {opened} finished",
    "teacher.give_the_class_something_to": "Give the class something to do",
    "teacher.add_a_book_first": "Add a book first.",
    "teacher.machine_and_model": "Machine and model",
    "teacher.health": "Health",
    "teacher.checking_everything": "Checking everything…",
    "teacher.versions_disk_models_indexes_and": (
        "Versions, disk, models, indexes and databases can be checked while readers keep reading."
    ),
    "teacher.to_fix": "{bad} to fix.",
    "teacher.all_checks_passed": "All checks passed.",
    "teacher.ok": "OK",
    "teacher.to_fix_2": "to fix",
    "teacher.check_now": "Check now",
    "teacher.your_password": "Your password",
    "teacher.change_it": "Change it",
    "teacher.the_present_one": "The present one",
    "teacher.the_new_one": "The new one",
    "teacher.language_model": "Language model",
    "teacher.no_language_model_answers_readers": "No language model answers: readers get the book’s own sentences.",
    "teacher.answers": "answers.",
    "teacher.is_not_ready_readers_get": "is not ready: readers get the book’s sentences.",
    "teacher.all_models": "All models",
    "teacher.mb": "{value}, {value2} MB",
    "teacher.in_use": "in use",
    "teacher.not_here": "not here",
    "teacher.since_the_server_started": "Since the server started",
    "teacher.none_yet": "none yet",
    "teacher.no_questions_yet": "No questions yet.",
    "teacher.finds_passages": "finds passages",
    "teacher.writes_answers": "writes answers",
    "teacher_answer.teacher_s_page": "Teacher’s page",
    "teacher_answer.pin_an_answer": "Pin an answer",
    "teacher_answer.a_pinned_answer_is_given": (
        "A pinned answer is given at once whenever the question comes, in these words or in others that mean "
        "the same. It stands above the book’s own words, and pupils read that it is their teacher’s."
    ),
    "teacher_answer.book": "Book",
    "teacher_answer.question": "Question",
    "teacher_answer.ask": "Ask",
    "teacher_answer.your_words_answer_this_question": "Your words answer this question.",
    "teacher_answer.answered_in_words_prepared_by": "Answered in words prepared by {prepared_by}.",
    "teacher_answer.the_book_says_nothing_on": (
        "The book says nothing on this question, so no answer can be pinned to it."
    ),
    "teacher_answer.answer": "Answer",
    "teacher_answer.passage_to_show_below_it": "Passage to show below it",
    "teacher_answer.offer_this_question_to_other": (
        "Offer this question to other pupils, too. If it stands in a pupil’s own words, better not."
    ),
    "teacher_answer.pin_this_answer": "Pin this answer",
    "teacher_answer.wordings_of_this_answer": "Wordings of this answer",
    "teacher_answer.it_was_written_to_and": (
        "It was written to “{topic}”, and also answers what means the same. This wording meets it. You can "
        "add others, or cut one."
    ),
    "teacher_answer.this_means_something_else_cut": "This means something else: cut it",
    "teacher_answer.or_it_means_the_same": "Or it means the same as one that you have answered",
    "teacher_assignment.teacher_s_page": "Teacher’s page",
    "teacher_assignment.for_the_class": "For the class",
    "teacher_assignment.show_the_qr_code_of": "Show the QR code of {address} large",
    "teacher_assignment.pupils_scan_the_code_or": "Pupils scan the code or type the address. Nobody signs in.",
    "teacher_assignment.show_it_large": "Show it large",
    "teacher_assignment.open_it": "Open it",
    "teacher_assignment.only_this_computer_can_open": "Only this computer can open it now. Let the class in first.",
    "teacher_assignment.let_the_class_in": "Let the class in",
    "teacher_assignment.how_far_they_are": "How far they are",
    "teacher_assignment.of": "of",
    "teacher_assignment.who_opened_it_have_finished": "who opened it have finished.",
    "teacher_assignment.handed_out": "Handed out {time}.",
    "teacher_assignment.browsers_are_counted_nobody_is": (
        "Browsers are counted, nobody is known. A phone that is away from the server sends its results when it is back."
    ),
    "teacher_assignment.what_was_hard": "What was hard",
    "teacher_assignment.of_did_not_know_it": "{missed} of {tries} did not know it",
    "teacher_assignment.everybody_knew_every_card_that": (
        "Everybody knew every card that at least {least} have answered."
    ),
    "teacher_assignment.a_card_is_listed_here": (
        "A card is listed here once at least {least} pupils have answered it: with fewer, a number would say who."
    ),
    "teacher_assignment.what_was_asked_meanwhile": "What was asked meanwhile",
    "teacher_assignment.questions_since_then_on_these": (
        "Questions since then on these pages, and those that no page answered, without names."
    ),
    "teacher_assignment.times": "{times} times,",
    "teacher_assignment.nothing_on_these_pages_yet": "Nothing on these pages yet.",
    "teacher_assignment.what_it_consists_of": "What it consists of",
    "teacher_assignment.pages": "Pages",
    "teacher_assignment.with_answers": "{value} with answers",
    "teacher_assignment.see": "See “{section}”.",
    "teacher_assignment.when_it_is_over": "When it is over",
    "teacher_assignment.forget_it_and_its_link": (
        "Forget it, and its link, its numbers and everything that pupils’ browsers kept of it are gone."
    ),
    "teacher_assignment.forget_it": "Forget it",
    "teacher_assignment_new.teacher_s_page": "Teacher’s page",
    "teacher_assignment_new.a_new_assignment": "A new assignment",
    "teacher_assignment_new.from_which_pages": "From which pages",
    "teacher_assignment_new.book": "Book",
    "teacher_assignment_new.show_its_pages": "Show its pages",
    "teacher_assignment_new.all": "all {value}",
    "teacher_assignment_new.single_pages": "Single pages",
    "teacher_assignment_new.cards_to_learn": "Cards to learn",
    "teacher_assignment_new.questions": "Questions",
    "teacher_assignment_new.kinds_of_questions": "Kinds of questions",
    "teacher_assignment_new.choose_anew": "Choose anew",
    "teacher_assignment_new.choose_cards_and_questions": "Choose cards and questions",
    "teacher_assignment_new.these_pages_have_none": "These pages have none.",
    "teacher_assignment_new.what_the_class_gets": "What the class gets",
    "teacher_assignment_new.title": "Title",
    "teacher_assignment_new.a_word_to_the_class": "A word to the class",
    "teacher_assignment_new.pages_to_read": "Pages to read",
    "teacher_assignment_new.how": "How",
    "teacher_assignment_new.each_pupil_gets_them_in": "Each pupil gets them in another order",
    "teacher_assignment_new.the_questions_come_with_their": "The questions come with their answers, to be opened",
    "teacher_assignment_new.hints_while_pupils_ask_on": "Hints, while pupils ask on these pages",
    "teacher_assignment_new.as_the_book_has_them": "as the book has them",
    "teacher_assignment_new.answer_at_once": "answer at once",
    "teacher_assignment_new.offer_a_hint_or_the": "offer a hint or the answer",
    "teacher_assignment_new.where_to_look_first_then": "where to look first, then a hint, then the answer",
    "teacher_assignment_new.hand_it_out": "Hand it out",
    "teacher_base.teacher_s_page": "Teacher’s page",
    "teacher_book.teacher_s_page": "Teacher’s page",
    "teacher_book.this_book_is_removed_nobody": "This book is removed: nobody sees it. Its files are still here.",
    "teacher_book.bring_it_back": "Bring it back",
    "teacher_book.delete_it_for_good": "Delete it for good",
    "teacher_book.its_files_are_deleted_from": "Its files are deleted from this computer. This cannot be undone.",
    "teacher_book.what_is_in_it": "What is in it",
    "teacher_book.in": "in {value}",
    "teacher_book.read": ", read",
    "teacher_book.read_2": "{file}, read",
    "teacher_book.it_is_hidden_pupils_neither": "It is hidden: pupils neither see nor ask it.",
    "teacher_book.its_files_are_not_in": (
        "Its files are not in the books’ folder at the moment; perhaps a disk was pulled out. Pupils can go "
        "on with it. If it is not to come back, remove it."
    ),
    "teacher_book.the_chapters": "The chapters",
    "teacher_book.nothing_was_left_out": "Nothing was left out.",
    "teacher_book.see_what_your_pupils_will": "See what your pupils will get",
    "teacher_book.open_it": "Open it",
    "teacher_book.prepared_answers_and_cards": "Prepared answers and cards",
    "teacher_book.its_name_on_the_shelf": "Its name on the shelf",
    "teacher_book.title": "Title",
    "teacher_book.what_it_is_about_in": "What it is about, in a line",
    "teacher_book.an_empty_field_leaves_what": "An empty field leaves what the book says of itself.",
    "teacher_book.save": "Save",
    "teacher_book.hints_before_answers": "Hints before answers",
    "teacher_book.when_a_pupil_asks_this": "When a pupil asks this book",
    "teacher_book.answer_at_once": "answer at once",
    "teacher_book.offer_a_hint_or_the": "offer a hint or the answer",
    "teacher_book.say_where_to_look_first": "say where to look first, then a hint, then the answer",
    "teacher_book.a_pupil_may_choose_otherwise": (
        "A pupil may choose otherwise in his own browser. The answer is never more than two taps away."
    ),
    "teacher_book.on_the_shelf_or_off": "On the shelf, or off it",
    "teacher_book.show_it_again": "Show it again",
    "teacher_book.hide_it_from_pupils": "Hide it from pupils",
    "teacher_book.remove_it": "Remove it",
    "teacher_book.a_removed_book_can_be": "A removed book can be brought back until you delete it for good.",
    "teacher_book.go_back_to_how_it": "Go back to how it was read before",
    "teacher_book.if_the_new_text_is": (
        "If the new text is wrong, pupils get the earlier one while you correct your files. Reading the "
        "books again replaces it."
    ),
    "teacher_book.go_back_to_it": "Go back to it",
    "teacher_class.qr_code_of": "QR code of {address}",
    "teacher_class.back": "Back",
    "teacher_companion.teacher_s_page": "Teacher’s page",
    "teacher_companion.prepared_for": "Prepared for “{title}”",
    "teacher_companion.pinned_what_you_decide_takes": (
        "{pinned} pinned. What you decide takes effect at once in answers, search, practice and exports."
    ),
    "teacher_companion.kind": "Kind",
    "teacher_companion.all": "all",
    "teacher_companion.state": "State",
    "teacher_companion.pinned": "pinned",
    "teacher_companion.words": "Words",
    "teacher_companion.show": "Show",
    "teacher_companion.page_of": ", page {page} of {pages}",
    "teacher_companion.approve_the_on_this_page": "Approve the {unread} on this page",
    "teacher_companion.hide_or_correct_the_others": "Hide or correct the others first.",
    "teacher_companion.by": "· by {author} ·",
    "teacher_companion.why_it_is_right": "Why it is right",
    "teacher_companion.points_one_a_line": "Points, one a line",
    "teacher_companion.text": "Text",
    "teacher_companion.choices_one_a_line": "Choices, one a line",
    "teacher_companion.number_of_the_right_one": "Number of the right one",
    "teacher_companion.wordings": "Wordings",
    "teacher_companion.it_also_answers_questions_that": "It also answers questions that mean the same.",
    "teacher_companion.the_question_is_told_to": "The question is told to nobody.",
    "teacher_companion.meets_it": "meets it",
    "teacher_companion.cut": "Cut",
    "teacher_companion.does_not": "does not",
    "teacher_companion.let_it_meet": "Let it meet",
    "teacher_companion.another_wording": "Another wording",
    "teacher_companion.add": "Add",
    "teacher_companion.show_again": "Show again",
    "teacher_companion.approve": "Approve",
    "teacher_companion.unpin": "Unpin",
    "teacher_companion.pin": "Pin",
    "teacher_companion.hide": "Hide",
    "teacher_companion.save_the_text": "Save the text",
    "teacher_companion.restore_the_original": "Restore the original",
    "teacher_companion.offer_the_question_to_pupils": "Offer the question to pupils",
    "teacher_companion.tell_the_question_to_nobody": "Tell the question to nobody",
    "teacher_companion.nothing_matches": "Nothing matches.",
    "teacher_companion.pages": "Pages",
    "teacher_companion.previous": "Previous",
    "teacher_companion.next": "Next",
    "teacher_gate.welcome_teacher": "Welcome, teacher",
    "teacher_gate.teacher_s_page": "Teacher’s page",
    "teacher_gate.this_page_lets_you_add": (
        "This page lets you add books, let your class in, and see what it asks. It is yours alone, so choose "
        "a password for it."
    ),
    "teacher_gate.code": "Code",
    "teacher_gate.it_stands_in_the_window": (
        "It stands in the window in which Lutrin was started, eight digits, and counts once. You have no "
        "such window? Ask whoever started Lutrin for you."
    ),
    "teacher_gate.your_new_password": "Your new password",
    "teacher_gate.at_least_characters": "At least {least} characters.",
    "teacher_gate.begin": "Begin",
    "teacher_gate.password": "Password",
    "teacher_gate.the_one_that_you_chose": "The one that you chose here, or that whoever set up this server gave you.",
    "teacher_gate.sign_in": "Sign in",
    "teacher_gate.to_the_books": "To the books",
    "teacher_parts.utc": "{value} UTC",
    "teacher_parts.left_out": "{file} left out",
    "teacher_parts.and_more": "and {files} more",
    "teacher_trial.words_prepared_by": "· words prepared by {prepared_by}",
    "teacher_trial.answer_it_in_your_words": "Answer it in your words",
    "teacher_trial.say_it_in_your_words": "Say it in your words",
    "teacher_trial.what_your_pupils_will_get": "What your pupils will get",
    "teacher_trial.questions_on_this_book": "Questions on this book",
    "teacher_trial.the_book_gives_no_questions": "The book gives no questions by itself. Ask it one of yours below.",
    "teacher_trial.questions_that_it_should_not": "Questions that it should not answer",
    "teacher_trial.they_come_from_elsewhere_a": (
        "They come from elsewhere. A book that has nothing on them says so, instead of guessing."
    ),
    "teacher_trial.a_question_of_yours": "A question of yours",
    "teacher_trial.question": "Question",
    "teacher_trial.ask": "Ask",
    "where_books_are_added.are_you_the_teacher": "Are you the teacher?",
    "where_books_are_added.add_your_books_on_your": (
        '<a href="/teacher">Add your books on your own page</a>: a PDF, slides, a Word file, a folder of '
        "pages. Pupils then read and ask here."
    ),
}
