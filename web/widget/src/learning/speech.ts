/**
 * Reads a text aloud with the device's own voice, sentence by sentence, each marked while it is read. A voice that
 * would send the text elsewhere is never used.
 */

/** Is no prose: code, controls, and what a page hides. */
const LEFT_OUT = 'script, style, pre, button, svg, math, nav, summary, time, [hidden], [aria-hidden="true"], .notes, .ask-back, .hinted, footer, .label, .cite, .grade, figcaption';
const BLOCK = 'p, li, dt, dd, td, th, caption, blockquote, h1, h2, h3, h4, h5, h6, section, article, div';
const MARK = 'lutrin-spoken';

export const SPOKEN_STYLE = `::highlight(${MARK}) { background-color: var(--lutrin-mark, #ffe08a); color: var(--lutrin-mark-text, #2e1f14); }`;

export interface Sentence {
  text: string;
  range: Range;
}

/** The sentences of an element in order; none goes beyond its paragraph. */
export function sentencesOf(root: Element, language: string): Sentence[] {
  const blocks = new Map<Element, Text[]>();
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode as Text;
    const parent = text.parentElement;
    if (!parent || !text.data.trim() || parent.closest(LEFT_OUT)) continue;
    const block = parent.closest(BLOCK) ?? root;
    blocks.set(block, [...(blocks.get(block) ?? []), text]);
  }
  const segmenter = new Intl.Segmenter(language, {granularity: 'sentence'});
  return [...blocks.values()].flatMap((texts) => {
    const whole = texts.map(({data}) => data).join('');
    return [...segmenter.segment(whole)].flatMap(({segment, index}) => {
      const text = segment.trim().replace(/\s+/g, ' ');
      if (!/[\p{L}\p{N}]/u.test(text)) return [];
      const range = document.createRange();
      range.setStart(...placeOf(texts, index));
      range.setEnd(...placeOf(texts, index + segment.trimEnd().length));
      return [{text, range}];
    });
  });
}

function placeOf(texts: readonly Text[], at: number): [Text, number] {
  let rest = at;
  for (const text of texts) {
    if (rest <= text.length) return [text, rest];
    rest -= text.length;
  }
  const last = texts.at(-1)!;
  return [last, last.length];
}

/** The device's own voice for a language; undefined: it has none. */
function voiceFor(language: string): SpeechSynthesisVoice | undefined {
  const own = speechSynthesis.getVoices().filter(({localService}) => localService);
  const short = language.slice(0, 2).toLowerCase();
  return own.find(({lang}) => lang.toLowerCase().startsWith(short));
}

/** One text at a time, whoever began it. */
export class ReadAloud {
  #stop: (() => void) | undefined;

  /**
   * Begin, or end what is being read.
   *
   * @param changed Told whether this text is read, now and whenever that changes.
   * @returns false: this device has no voice of its own for the language.
   */
  async toggle(root: Element, changed: (reading: boolean) => void): Promise<boolean> {
    const before = this.#stop;
    before?.();
    if (this.#root === root) {
      this.#root = undefined;
      return true;
    }
    const language = document.documentElement.lang || 'en';
    if (!speechSynthesis.getVoices().length) await voicesKnown();
    const voice = voiceFor(language);
    if (!voice) return false;
    this.#root = root;
    changed(true);
    let stopped = false;
    this.#stop = () => {
      if (stopped) return;
      stopped = true;
      this.#stop = undefined;
      speechSynthesis.cancel();
      CSS.highlights?.delete(MARK);
      changed(false);
    };
    void this.#read(sentencesOf(root, language), voice, () => stopped).then(() => {
      if (stopped) return;
      this.#stop?.();
      this.#root = undefined;
    });
    return true;
  }

  #root: Element | undefined;

  async #read(sentences: readonly Sentence[], voice: SpeechSynthesisVoice, stopped: () => boolean): Promise<void> {
    for (const {text, range} of sentences) {
      if (stopped()) return;
      CSS.highlights?.set(MARK, new Highlight(range));
      const {top, bottom} = range.getBoundingClientRect();
      if (top < 70 || bottom > innerHeight - 90) range.startContainer.parentElement?.scrollIntoView({block: 'center'});
      await spoken(text, voice);
    }
  }
}

/** Ends when a sentence was read, also if the device failed at it. */
function spoken(text: string, voice: SpeechSynthesisVoice): Promise<void> {
  return new Promise((resolve) => {
    const utterance = Object.assign(new SpeechSynthesisUtterance(text), {voice, lang: voice.lang});
    utterance.onend = utterance.onerror = () => resolve();
    speechSynthesis.speak(utterance);
  });
}

/** Browsers learn the voices of a device a moment after the page is there. */
function voicesKnown(): Promise<void> {
  return new Promise((resolve) => {
    speechSynthesis.addEventListener('voiceschanged', () => resolve(), {once: true});
    setTimeout(resolve, 1000);
  });
}
