/** What travels between the widget and the server; shapes of single replies are the server's own, from `schema.ts`. */

import type {Answer as Answered, ChatMessage, Citation, Excerpt, Feedback} from './schema.ts';

export type {
  ChatBody as ChatRequest,
  ChatReply,
  ChatSession as StoredSession,
  Citation,
  Excerpt,
  Problem,
} from './schema.ts';

/** Servers from before prepared answers do not say who prepared them. */
interface Prepared {
  prepared_by?: string | null;
}

export type Answer = Answered & Prepared;
export type StoredMessage = ChatMessage & Prepared;
export type Mode = Answer['mode'];
export type AnswerKind = Answer['kind'];
export type Refusal = NonNullable<Answer['refusal']>;
export type Verdict = Feedback['value'];

/** One Server-Sent Event of an answer; the last is `done` or `error`. */
export type AnswerEvent =
  | {type: 'queued'; position: number; eta_s: number}
  | {type: 'sources'; citations: Citation[]}
  | ({type: 'excerpt'} & Excerpt)
  | {type: 'sentence'; text: string; citations: number[]}
  | ({type: 'done'} & Answer)
  | {type: 'error'; detail: string};
