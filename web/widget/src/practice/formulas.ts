/** Formulas of cards: the page has them as TeX, as the book writes them; what is not understood stays so. */

import {parseTex, UnknownTex, type MathNode} from '../maths.ts';

/** As in answers: no blank inside the dollars, no digit behind, so that prices stay prices. */
const FORMULA = /\$\$([^$]+)\$\$|\$(?=\S)([^$\n]*[^\s$])\$(?!\d)/g;
const MATHML = 'http://www.w3.org/1998/Math/MathML';

/** A text in pieces: words as they are, and the TeX between them as a tree, or as it stands. */
export function piecesOf(text: string): (string | {tex: string; tree: MathNode})[] {
  const pieces: ReturnType<typeof piecesOf> = [];
  let at = 0;
  for (const match of text.matchAll(FORMULA)) {
    const tree = treeOf(match[1] ?? match[2] ?? '');
    if (!tree) continue;
    pieces.push(text.slice(at, match.index), {tex: match[1] ?? match[2] ?? '', tree});
    at = match.index + match[0].length;
  }
  return [...pieces, text.slice(at)];
}

/** Draw the formulas in these elements, which hold text alone. */
export function drawFormulas(elements: Iterable<Element>): void {
  for (const element of elements) {
    for (const text of [...element.childNodes].filter((node) => node instanceof Text)) {
      if (text.data.includes('$')) text.replaceWith(...piecesOf(text.data).map((piece) => (typeof piece === 'string' ? piece : formula(piece))));
    }
  }
}

function treeOf(tex: string): MathNode | undefined {
  try {
    return parseTex(tex);
  } catch (error) {
    if (!(error instanceof UnknownTex)) throw error;
    return undefined;
  }
}

function formula({tex, tree}: {tex: string; tree: MathNode}): Element {
  const math = document.createElementNS(MATHML, 'math');
  math.setAttribute('aria-label', tex);
  math.append(drawn(tree));
  return math;
}

function drawn([tag, content]: MathNode): Element {
  const element = document.createElementNS(MATHML, tag);
  if (tag === 'mover') element.setAttribute('accent', 'true');
  element.append(...(typeof content === 'string' ? [content] : content.map(drawn)));
  return element;
}
