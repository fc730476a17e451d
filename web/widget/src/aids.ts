/** What a page adds to answers: a hint before one, a question below it. The widget itself has neither. */

import type {Turn} from './conversation.ts';

export interface Aids {
  /** Stands in the place of the answer as long as the reader tries by himself. */
  cover?: Node;
  /** Stands below an answer. */
  below?: Node;
}

/** Called whenever an answer is drawn; the same nodes stay where they are. */
export type AidsOf = (turn: Turn) => Aids;
