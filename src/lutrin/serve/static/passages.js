// Where words stand on a page: by their letters and digits alone, so that a passage is found again in a page that was
// typeset anew. `margin.js` marks what is found here.

/** Letters before and behind a passage that tell it from others with the same words. */
export const AROUND = 40;
/** Fewer letters than these can stand anywhere: what is around them has to stand there, too. */
const ENOUGH = 24;
/** Stands in the article, though no author wrote it, or not for reading. */
const LEFT_OUT = "script, style, button, .notes, .tablist, .tab > .label, .diagram, [aria-hidden=true], .anchor";

/** Letters and digits alone, in lower case, as many units as the text has for them. */
function lettersOnly(text) {
  return Array.from(text.matchAll(/[\p{L}\p{N}]/gu), ([letter]) => (letter.toLowerCase().length === letter.length ? letter.toLowerCase() : letter)).join("");
}

/** The letters of a part of a page: those of `nodes[i]` begin at `starts[i]`. */
export function lettersOf(root) {
  const nodes = [];
  const starts = [];
  let letters = "";
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement.closest(LEFT_OUT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  );
  while (walker.nextNode()) {
    nodes.push(walker.currentNode);
    starts.push(letters.length);
    letters += lettersOnly(walker.currentNode.data);
  }
  return { letters, nodes, starts };
}

/** First and last letter of a range, as far as it lies in the text; nothing if it does not. */
export function extent(range, { nodes, starts }) {
  let found;
  for (const [at, node] of nodes.entries()) {
    if (!range.intersectsNode(node)) continue;
    const from = node === range.startContainer ? lettersOnly(node.data.slice(0, range.startOffset)).length : 0;
    const end = node === range.endContainer ? range.endOffset : node.length;
    const to = lettersOnly(node.data.slice(0, end)).length;
    if (to > from) found = [found?.[0] ?? starts[at] + from, starts[at] + to];
  }
  return found;
}

/** How many letters two texts have in common at their ends, or at their beginnings. */
function shared(one, other, fromEnd) {
  const at = (text, index) => text.at(fromEnd ? -1 - index : index);
  let count = 0;
  while (count < Math.min(one.length, other.length) && at(one, count) === at(other, count)) count += 1;
  return count;
}

/** Where the words of a note begin: where most of what was around them still is; -1 if they stand nowhere. */
export function locate(letters, note) {
  const length = note.letters.length;
  let best = { at: -1, kept: length < ENOUGH ? (note.before.length + note.after.length) / 2 - 1 : -1 };
  for (let at = letters.indexOf(note.letters); at >= 0; at = letters.indexOf(note.letters, at + 1)) {
    const before = letters.slice(Math.max(0, at - AROUND), at);
    const after = letters.slice(at + length, at + length + AROUND);
    const kept = shared(before, note.before, true) + shared(after, note.after, false);
    if (kept > best.kept) best = { at, kept };
  }
  return best.at;
}

/** The place of a letter: its node, and how far into it. */
function place({ nodes, starts }, index, behind) {
  const owner = starts.findLastIndex((start) => (behind ? start < index : start <= index));
  const node = nodes[owner];
  let left = index - starts[owner];
  for (const { 0: letter, index: at } of node.data.matchAll(/[\p{L}\p{N}]/gu)) {
    if (behind && left <= letter.length) return [node, at + letter.length];
    if (!behind && left <= 0) return [node, at];
    left -= letter.length;
  }
  return [node, node.length];
}

export function rangeAt(text, start, end) {
  const range = document.createRange();
  range.setStart(...place(text, start, false));
  range.setEnd(...place(text, end, true));
  return range;
}
