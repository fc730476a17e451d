"""Recognises the text of scanned pages; needs `pip install lutrin[ocr]`.

pypdfium2 renders a page, rapidocr (PP-OCR, its models in the wheel) reads it line by line. The results have the same
form as a PDF's own text, so the same geometry finds columns, headings and paragraphs.
"""

from io import BytesIO
from typing import Any, BinaryIO

from lutrin.errors import DocumentError
from lutrin_formats.pdf import Recognize
from lutrin_formats.pdf_layout import TextRun

_DOTS = 200
"""Dots per inch: letters of 10 points are 28 dots high, about the size that the models were trained on."""
_LEAST_SCORE = 0.6
"""Least confidence of a line that is more than noise; the library's own threshold is lower."""
_BODY, _BASE = 0.72, 0.22
"""Shares of a line's height: the size of its letters, and the height of the baseline above its lower edge."""


class Recognizer:
    """Reads pictures of pages."""

    def __init__(self) -> None:
        from rapidocr import RapidOCR  # noqa: PLC0415 - an extra

        self._engine: Any = RapidOCR(params={"Global.log_level": "critical"})

    def runs(self, picture: Any, scale: float) -> list[TextRun]:  # noqa: ANN401 - an array of numpy
        """The lines of a picture (height, width, 3), `scale` points a dot, as runs; the lowest point is 0."""
        result = self._engine(picture, use_cls=False)
        if result.boxes is None:
            return []
        high = picture.shape[0]
        lines = []
        for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
            if score < _LEAST_SCORE or not text.strip():
                continue
            left, right = float(box[:, 0].min()), float(box[:, 0].max())
            height = float(abs((box[3, 1] + box[2, 1]) - (box[0, 1] + box[1, 1])) / 2)
            lower = float((box[3, 1] + box[2, 1]) / 2)
            lines.append(
                TextRun(
                    x=left * scale,
                    y=(high - lower + _BASE * height) * scale,
                    size=round(_BODY * height * scale),
                    text=text.strip(),
                    length=(right - left) * scale,
                )
            )
        return lines


def recognizer_of(file: BinaryIO, filename: str, password: str) -> Recognize:
    """Return a function that recognises the text of a PDF page, by its zero-based number.

    Raises:
        DocumentError: The extra is not installed, or the file cannot be rendered.
    """
    try:
        import pypdfium2  # noqa: PLC0415 - an extra

        recognizer = Recognizer()
    except ImportError as error:
        message = f"holds scanned pages, and {error.name} is not installed: pip install lutrin[ocr]"
        raise DocumentError(filename, message) from None
    file.seek(0)
    try:
        document = pypdfium2.PdfDocument(BytesIO(file.read()), password=password or None)
    except pypdfium2.PdfiumError as error:
        raise DocumentError(filename, f"cannot be drawn ({error})") from None

    def recognize(number: int) -> list[TextRun]:
        picture = document[number].render(scale=_DOTS / 72).to_numpy()
        return recognizer.runs(picture[:, :, :3], 72 / _DOTS)

    return recognize
