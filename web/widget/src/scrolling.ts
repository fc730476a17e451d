/** Keeps the newest question at the top of the messages while its answer grows, unless the reader scrolls. */

/** Less than this from the end counts as the end. */
const END_PX = 32;
const ABOVE_QUESTION_PX = 12;

export class Scrolling {
  /** There is text below what is shown. */
  below = false;
  #following = true;
  /** Where the list was put for this question: one that is shorter within a frame only goes back to where it was. */
  #places_px: number[] = [];

  /** The reader sent a question, or opened a conversation: show it. */
  follow(): void {
    this.#following = true;
    this.#places_px = [];
  }

  /** After every drawing. */
  drawn(list: HTMLElement | null): void {
    if (!list) return;
    const end = list.scrollHeight - list.clientHeight;
    // The reader may have scrolled since, with the event still to come; only a list that became shorter moves by itself.
    if (this.#moved(list) && list.scrollTop < end - 2) this.#following = false;
    if (this.#following) {
      const questions = list.querySelectorAll<HTMLElement>('.message.user');
      const question = questions[questions.length - 1];
      const top = question ? question.offsetTop - ABOVE_QUESTION_PX : end;
      list.scrollTop = Math.max(0, Math.min(end, top));
      if (this.#moved(list) || !this.#places_px.length) this.#places_px.push(list.scrollTop);
    }
    this.#look(list);
  }

  /** The list was scrolled; @returns whether `below` has changed. */
  scrolled(list: HTMLElement): boolean {
    const before = this.below;
    if (this.#moved(list)) this.#following = false;
    this.#look(list);
    return this.below !== before;
  }

  toEnd(list: HTMLElement | null): void {
    list?.scrollTo({top: list.scrollHeight});
  }

  #moved(list: HTMLElement): boolean {
    return this.#places_px.length > 0 && this.#places_px.every((place) => Math.abs(list.scrollTop - place) > 2);
  }

  #look(list: HTMLElement): void {
    this.below = list.scrollHeight - list.clientHeight - list.scrollTop > END_PX;
  }
}
