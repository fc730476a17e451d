/** Finds a quoted passage in a page and marks it, without changing the page. */

/** Where letters of a page stand: `letters[i]` is at `offsets[i]` of `nodes[owners[i]]`. */
interface Letters {
  letters: string;
  nodes: Text[];
  owners: number[];
  offsets: number[];
}

/** Not part of the text that an author wrote, though it stands in the page. */
const LEFT_OUT =
  'script, style, template, noscript, lutrin-chat, .katex-html, semantics > :not(annotation), [aria-hidden="true"], .sr-only';
const HIGHLIGHT = 'lutrin-passage';
/** Letters of a passage that suffice to recognise its beginning or end. */
const ENOUGH = 24;

/**
 * The range of a passage in a page. Only letters and digits are compared, for markup, quotation marks and spaces
 * differ between a source file and its page.
 *
 * @param root Where to look.
 * @param quote Its words, without markup.
 * @param after Prefer a place behind this element.
 */
export function findPassage(root: Element, quote: string, after?: Element | null): Range | undefined {
  const wanted = lettersOnly(quote);
  if (!wanted) return undefined;
  const page = lettersOf(root);
  const from = after ? firstLetterBehind(page, after) : 0;
  const [start, end] = locate(page.letters, wanted, from);
  return end > start ? rangeOf(page, start, end) : undefined;
}

/** Mark a range until the next one is marked. */
export function markPassage(range: Range): void {
  const page = range.startContainer.ownerDocument;
  const {highlights} = CSS as {highlights?: HighlightRegistry};
  if (!page || !highlights || typeof Highlight === 'undefined') {
    // A selection is the one mark that every browser can draw over a range.
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    return;
  }
  if (!highlights.has(HIGHLIGHT)) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      `::highlight(${HIGHLIGHT}) {background-color: var(--lutrin-mark, #ffe08a); color: var(--lutrin-mark-text, #2e1f14)}`,
    );
    page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
  }
  highlights.set(HIGHLIGHT, new Highlight(range));
}

/** Letters and digits in lower case, one UTF-16 unit for each of the original's that counts. */
export function lettersOnly(text: string): string {
  return Array.from(text, (character) => (isLetter(character) ? lowered(character) : '')).join('');
}

/**
 * Start and end of `wanted` in `letters`: the whole, else from its beginning to its end where both are recognised,
 * else the beginning alone. Equal numbers if there is none.
 */
export function locate(letters: string, wanted: string, from: number): [number, number] {
  const find = (part: string, start: number): number => {
    const found = letters.indexOf(part, start);
    return found >= 0 ? found : letters.indexOf(part);
  };
  const whole = find(wanted, from);
  if (whole >= 0) return [whole, whole + wanted.length];
  if (wanted.length <= ENOUGH) return [0, 0];
  const start = find(wanted.slice(0, ENOUGH), from);
  const tail = wanted.slice(-ENOUGH);
  if (start < 0) {
    const end = find(tail, from);
    return end < 0 ? [0, 0] : [end, end + tail.length];
  }
  const end = letters.indexOf(tail, start);
  const near = end >= 0 && end - start < wanted.length * 2;
  return [start, near ? end + tail.length : start + ENOUGH];
}

function lettersOf(root: Element): Letters {
  const found: Letters = {letters: '', nodes: [], owners: [], offsets: []};
  const parts: string[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(LEFT_OUT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const owner = found.nodes.push(node) - 1;
    let offset = 0;
    for (const character of node.data) {
      if (isLetter(character)) {
        const letter = lowered(character);
        parts.push(letter);
        for (let unit = 0; unit < letter.length; unit += 1) {
          found.owners.push(owner);
          found.offsets.push(offset);
        }
      }
      offset += character.length;
    }
  }
  found.letters = parts.join('');
  return found;
}

function firstLetterBehind(page: Letters, element: Element): number {
  const node = page.nodes.findIndex(
    (text) =>
      element.contains(text) || (element.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
  const first = node < 0 ? -1 : page.owners.findIndex((owner) => owner >= node);
  return Math.max(0, first);
}

function rangeOf(page: Letters, start: number, end: number): Range {
  const range = document.createRange();
  const at = (index: number): [Text, number] => [
    page.nodes[page.owners[index] ?? 0] as Text,
    page.offsets[index] ?? 0,
  ];
  const [first, from] = at(start);
  const [last, offset] = at(end - 1);
  // What its author typed of a formula is not drawn: the formula is.
  const [head, tail] = [first, last].map((node) => node.parentElement?.closest('math'));
  if (head) range.setStartBefore(head);
  else range.setStart(first, from);
  if (tail) {
    range.setEndAfter(tail);
    return range;
  }
  const letter = String.fromCodePoint(last.data.codePointAt(offset) ?? 32);
  let stop = offset + letter.length;
  // The full stop belongs to the sentence.
  while (/^[.!?)\]»”’"'…]/.test(last.data.slice(stop))) stop += 1;
  range.setEnd(last, stop);
  return range;
}

function isLetter(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

function lowered(character: string): string {
  return character.toLowerCase();
}
