/** What travels between the widget and the server; shapes of single replies are the server's own, from `schema.ts`. */

import type {Answer, Citation, Excerpt, Feedback, Sentence} from './schema.ts';

export type {
  Answer,
  Block,
  ChatBody as ChatRequest,
  ChatMessage as StoredMessage,
  ChatReply,
  ChatSession as StoredSession,
  Citation,
  Excerpt,
  Inline,
  Problem,
  Sentence,
} from './schema.ts';

export type Mode = Answer['mode'];
export type AnswerKind = Answer['kind'];
export type Refusal = NonNullable<Answer['refusal']>;
export type Verdict = Feedback['value'];

/** What the model does for this reader; `eta_s` is null where it is not known. */
export interface Working {
  what: 'reading' | 'writing';
  eta_s: number | null;
}

/** What a page shows of an answer; a reply in one piece has no more. */
export type ShownAnswer = Omit<Answer, 'mode' | 'is_cut' | 'latency_ms' | 'generation'>;

/** One Server-Sent Event of an answer; the last is `done` or `error`. */
export type AnswerEvent =
  | {type: 'queued'; position: number; eta_s: number}
  | ({type: 'working'} & Working)
  | {type: 'sources'; citations: Citation[]}
  | ({type: 'excerpt'} & Excerpt)
  | ({type: 'answer'} & ShownAnswer)
  | ({type: 'sentence'} & Sentence)
  | ({type: 'done'} & ShownAnswer)
  | {type: 'error'; detail: string};
