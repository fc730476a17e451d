"""The template of a model that thinks aloud is told not to."""

from lutrin.adapters.llamacpp import NO_THOUGHT, layout

PLAIN = b"{% for message in messages %}<|im_start|>{{ message.role }}{% endfor %}<|im_start|>assistant\n"
THINKING = PLAIN + b"{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"


def test_a_thought_is_closed_before_the_answer() -> None:
    """As the model's own template does where thinking is switched off; others are left as they are."""
    roles = ("system", "user")
    assert layout(THINKING, roles)[-1].endswith(f"<|im_start|>assistant\n{NO_THOUGHT}")
    assert layout(PLAIN, roles)[-1].endswith("<|im_start|>assistant\n")
