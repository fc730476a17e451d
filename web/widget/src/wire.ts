/** What travels between the widget and the server; shapes of single replies are the server's own, from `schema.ts`. */

import type {Answer, Citation, Excerpt, Feedback, Sentence} from './schema.ts';

export type {
  Answer,
  ChatBody as ChatRequest,
  ChatMessage as StoredMessage,
  ChatReply,
  ChatSession as StoredSession,
  Citation,
  Excerpt,
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

/** One Server-Sent Event of an answer; the last is `done` or `error`. */
export type AnswerEvent =
  | {type: 'queued'; position: number; eta_s: number}
  | ({type: 'working'} & Working)
  | {type: 'sources'; citations: Citation[]}
  | ({type: 'excerpt'} & Excerpt)
  | ({type: 'answer'} & Answer)
  | ({type: 'sentence'} & Sentence)
  | ({type: 'done'} & Answer)
  | {type: 'error'; detail: string};
