/** An answer as text that leaves the panel: copied, shared or printed. */

import {citedBy, type Turn} from './conversation.ts';
import type {Citation} from './wire.ts';

/** Its words, or what came of them, then where each source that it cites stands. */
export function answerText(turn: Turn, hrefOf: (citation: Citation) => string): string {
  const said = turn.sentences.map(({text, citations}) => [text, ...citations.map((n) => `[${n}]`)].join(' ')).join(' ');
  const text = turn.text || [said, ...turn.excerpts.map((excerpt) => `${excerpt.text} [${excerpt.n}]`)].filter(Boolean).join('\n\n');
  const lines = citedBy(turn).map((source) => `[${source.n}] ${[source.chapter, source.section_title].filter(Boolean).join(', ')} (${hrefOf(source)})`);
  return lines.length ? `${text}\n\n${lines.join('\n')}` : text;
}
