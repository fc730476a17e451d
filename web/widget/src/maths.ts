/** The TeX that textbooks write in running text, as a tree of MathML elements; what is not known stays TeX. */

/** `[element, content]`: text for leaves, children for the rest. */
export type MathNode = readonly [tag: MathTag, content: string | readonly MathNode[]];
export type MathTag =
  'mi' | 'mn' | 'mo' | 'mtext' | 'mrow' | 'mfrac' | 'msqrt' | 'msup' | 'msub' | 'msubsup' | 'mover' | 'mtable' | 'mtr' | 'mtd';

const GREEK = 'alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω infty ∞ partial ∂ nabla ∇ ell ℓ';
const OPERATORS = 'cdot ⋅ times × div ÷ pm ± mp ∓ le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ propto ∝ ll ≪ gg ≫ in ∈ notin ∉ subset ⊂ cup ∪ cap ∩ to → rightarrow → leftarrow ← Rightarrow ⇒ mapsto ↦ sum ∑ prod ∏ int ∫ circ ∘ ldots … dots … cdots ⋯ forall ∀ exists ∃ mid | parallel ∥ perp ⊥ langle ⟨ rangle ⟩ lVert ‖ rVert ‖ | ‖ { { } } % %';
const SPACES = new Set([',', ';', ':', '!', ' ', 'quad', 'qquad']);
const FUNCTIONS = new Set('sin cos tan cot arcsin arccos arctan sinh cosh tanh log ln exp min max arg det lim sup inf'.split(' '));
const ACCENTS = pairs('hat ^ dot ˙ ddot ¨ bar ¯ vec → tilde ~ overline ¯');
const LETTERS = pairs(GREEK);
const SYMBOLS = pairs(OPERATORS);
const UPRIGHT = new Set(['mathrm', 'text', 'operatorname', 'textrm', 'mathbf', 'boldsymbol', 'mathit']);

/** TeX that this reader does not know. */
export class UnknownTex extends Error {}

/**
 * Parse TeX mathematics.
 *
 * @throws UnknownTex where a command or the nesting is not understood.
 */
export function parseTex(source: string): MathNode {
  const tokens = source.match(/\\(?:[a-zA-Z]+|.)|[0-9]+(?:\.[0-9]+)?|\s+|[^]/gu) ?? [];
  let at = 0;

  function row(isEnd: (token: string | undefined) => boolean): MathNode {
    const nodes: MathNode[] = [];
    while (!isEnd(tokens[at])) {
      if (at >= tokens.length) throw new UnknownTex('unbalanced');
      const node = scripted();
      if (node) nodes.push(node);
    }
    at += 1;
    return nodes.length === 1 && nodes[0] ? nodes[0] : ['mrow', nodes];
  }

  function scripted(): MathNode | undefined {
    const base = atom();
    let [sub, sup]: [MathNode | undefined, MathNode | undefined] = [undefined, undefined];
    for (;;) {
      if (tokens[at] === '_' && !sub) sub = (at++, argument());
      else if (tokens[at] === '^' && !sup) sup = (at++, argument());
      else if (tokens[at] === "'" && !sup) sup = (at++, ['mo', '′']);
      else break;
    }
    if (!sub && !sup) return base;
    const anchor = base ?? ['mrow', []];
    if (sub && sup) return ['msubsup', [anchor, sub, sup]];
    return sub ? ['msub', [anchor, sub]] : ['msup', [anchor, sup ?? ['mrow', []]]];
  }

  function argument(): MathNode {
    while (/^\s/.test(tokens[at] ?? '')) at += 1;
    return atom() ?? ['mrow', []];
  }

  /** The raw text of a braced argument. */
  function words(): string {
    let text = '';
    if (tokens[at++] !== '{') throw new UnknownTex('an argument is missing');
    while (tokens[at] !== '}') {
      if (at >= tokens.length) throw new UnknownTex('unbalanced');
      text += tokens[at++];
    }
    at += 1;
    return text.replace(/\\[ ,;:]/g, ' ');
  }

  function atom(): MathNode | undefined {
    const token = tokens[at++] ?? '';
    if (/^\s*$/.test(token)) return undefined;
    if (token === '{') return row((next) => next === '}');
    if (/^[0-9]/.test(token)) return ['mn', token];
    if (/^\p{L}$/u.test(token)) return ['mi', token];
    if (!token.startsWith('\\')) {
      if ('}_^&$#'.includes(token)) throw new UnknownTex(token);
      return token === '°' ? ['mtext', token] : ['mo', token === '-' ? '−' : token];
    }
    return command(token.slice(1));
  }

  function command(name: string): MathNode | undefined {
    const letter = LETTERS.get(name);
    if (letter) return ['mi', letter];
    const symbol = SYMBOLS.get(name);
    if (symbol) return ['mo', symbol];
    if (SPACES.has(name)) return ['mtext', ' '];
    if (FUNCTIONS.has(name)) return ['mi', name];
    if (UPRIGHT.has(name)) return ['mtext', words()];
    const accent = ACCENTS.get(name);
    if (accent) return ['mover', [argument(), ['mo', accent]]];
    switch (name) {
      case 'frac':
      case 'dfrac':
      case 'tfrac':
        return ['mfrac', [argument(), argument()]];
      case 'sqrt':
        return ['msqrt', [argument()]];
      case 'left':
      case 'right': {
        const fence = atom();
        return fence?.[1] === '.' ? undefined : fence;
      }
      case 'begin':
        return matrix(words());
      default:
        throw new UnknownTex(name);
    }
  }

  function matrix(kind: string): MathNode {
    const [open, close] = {bmatrix: ['[', ']'], pmatrix: ['(', ')'], matrix: ['', ''], cases: ['{', ''], aligned: ['', '']}[kind] ?? [];
    if (open === undefined || close === undefined) throw new UnknownTex(kind);
    const rows: MathNode[] = [];
    let cells: MathNode[] = [];
    for (;;) {
      cells.push(['mtd', [row((next) => next === '&' || next === '\\\\' || next === '\\end')]]);
      const ended = tokens[at - 1];
      if (ended === '&') continue;
      rows.push(['mtr', cells]);
      cells = [];
      if (ended === '\\end') break;
    }
    words();
    const fence = (text: string): MathNode[] => (text ? [['mo', text]] : []);
    return ['mrow', [...fence(open), ['mtable', rows], ...fence(close)]];
  }

  const whole = row((next) => next === undefined);
  return whole;
}

function pairs(list: string): Map<string, string> {
  const words = list.split(' ');
  return new Map(words.flatMap((word, index) => (index % 2 ? [] : [[word, words[index + 1] ?? '']])));
}
