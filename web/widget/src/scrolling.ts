/** Shows the newest question at the top of the messages, with room below it, unless the reader scrolls. */

/** Less than this from the end counts as the end. */
const END_PX = 32;
/** As the list is padded: the first question stands there already. */
const ABOVE_QUESTION_PX = 12;

export class Scrolling {
  /** There is text below what is shown. */
  below = false;
  #following = true;
  /** Where the list was put for this question. */
  #place_px: number | undefined;

  /** The reader sent a question, or opened a conversation: show it. */
  follow(): void {
    this.#following = true;
    this.#place_px = undefined;
  }

  /** After every drawing. */
  drawn(list: HTMLElement | null): void {
    if (!list) return;
    this.#heed(list); // its event may still come
    if (this.#following) {
      const question = list.querySelector<HTMLElement>('.turn:last-child .user');
      list.scrollTop = question ? question.offsetTop - ABOVE_QUESTION_PX : list.scrollHeight;
      this.#place_px = list.scrollTop;
    }
    this.#look(list);
  }

  /** The list was scrolled; @returns whether `below` has changed. */
  scrolled(list: HTMLElement): boolean {
    const before = this.below;
    this.#heed(list);
    this.#look(list);
    return this.below !== before;
  }

  toEnd(list: HTMLElement | null): void {
    list?.scrollTo({top: list.scrollHeight});
  }

  /** A list that is elsewhere was scrolled by its reader. */
  #heed(list: HTMLElement): void {
    if (Math.abs(list.scrollTop - (this.#place_px ?? list.scrollTop)) > 2) this.#following = false;
  }

  #look(list: HTMLElement): void {
    this.below = list.scrollHeight - list.clientHeight - list.scrollTop > END_PX;
  }
}
