import {html, mathml, nothing, type TemplateResult} from 'lit';
import {parseTex, UnknownTex, type MathNode} from '../maths.ts';

/** Mathematics as MathML; what is not understood is shown as its author wrote it. */
export function mathsView(tex: string, display: boolean): TemplateResult {
  try {
    const content = nodeView(parseTex(tex));
    return html`<math display=${display ? 'block' : nothing} aria-label=${tex}>${content}</math>`;
  } catch (error) {
    if (!(error instanceof UnknownTex)) throw error;
    return html`<code class="tex">${tex}</code>`;
  }
}

function nodeView([tag, content]: MathNode): TemplateResult<3> {
  const inner = typeof content === 'string' ? content : content.map(nodeView);
  switch (tag) {
    case 'mi':
      return mathml`<mi>${inner}</mi>`;
    case 'mn':
      return mathml`<mn>${inner}</mn>`;
    case 'mo':
      return mathml`<mo>${inner}</mo>`;
    case 'mtext':
      return mathml`<mtext>${inner}</mtext>`;
    case 'mrow':
      return mathml`<mrow>${inner}</mrow>`;
    case 'mfrac':
      return mathml`<mfrac>${inner}</mfrac>`;
    case 'msqrt':
      return mathml`<msqrt>${inner}</msqrt>`;
    case 'msup':
      return mathml`<msup>${inner}</msup>`;
    case 'msub':
      return mathml`<msub>${inner}</msub>`;
    case 'msubsup':
      return mathml`<msubsup>${inner}</msubsup>`;
    case 'mover':
      return mathml`<mover accent="true">${inner}</mover>`;
    case 'mtable':
      return mathml`<mtable>${inner}</mtable>`;
    case 'mtr':
      return mathml`<mtr>${inner}</mtr>`;
    case 'mtd':
      return mathml`<mtd>${inner}</mtd>`;
  }
}
