/** Keeps the newest question at the top of the messages while its answer grows, unless the reader scrolls. */

/** Less than this from the end counts as the end. */
const END_PX = 32;
const ABOVE_QUESTION_PX = 12;

export class Scrolling {
  /** There is text below what is shown. */
  below = false;
  #following = true;
  #set_px = 0;

  /** The reader sent a question, or opened a conversation: show it. */
  follow(): void {
    this.#following = true;
  }

  /** After every drawing. */
  drawn(list: HTMLElement | null): void {
    if (!list) return;
    if (this.#following) {
      const end = list.scrollHeight - list.clientHeight;
      const questions = list.querySelectorAll<HTMLElement>('.message.user');
      const question = questions[questions.length - 1];
      const top = question ? question.offsetTop - ABOVE_QUESTION_PX : end;
      this.#set_px = Math.max(0, Math.min(end, top));
      list.scrollTop = this.#set_px;
    }
    this.#look(list);
  }

  /** The list was scrolled; @returns whether `below` has changed. */
  scrolled(list: HTMLElement): boolean {
    const before = this.below;
    if (Math.abs(list.scrollTop - this.#set_px) > 2) this.#following = false;
    this.#look(list);
    return this.below !== before;
  }

  toEnd(list: HTMLElement | null): void {
    list?.scrollTo({top: list.scrollHeight});
  }

  #look(list: HTMLElement): void {
    this.below = list.scrollHeight - list.clientHeight - list.scrollTop > END_PX;
  }
}
