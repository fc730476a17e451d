/** What travels between the widget and the server, as the contract writes it. */

export type Mode = 'book' | 'selection' | 'selection_boosted';
export type AnswerKind = 'generated' | 'extractive' | 'refusal';
export type Refusal = 'out_of_scope' | 'not_in_book' | 'not_in_selection' | 'vague' | 'not_english' | 'empty';

/** A source of an answer; `n` is its number in the text, `[n]`. */
export interface Citation {
  n: number;
  chunk_id: string;
  book: string;
  chapter: string;
  section: string;
  section_title: string;
  filename: string;
  page: number | null;
  /** Path of the reader's page that holds the heading, with its fragment. */
  url: string;
  /** An exact substring of the source file's text: Markdown, not what a reader sees. */
  quote: string;
  relevance_score: number;
}

export interface Answer {
  /** Markdown with `[n]` markers. */
  answer: string;
  sources: Citation[];
  mode: Mode;
  kind: AnswerKind;
  refusal: Refusal | null;
  suggestions: string[];
  warnings: string[];
}

/** `POST /chat` without a stream. */
export interface ChatReply {
  answer: string;
  citations: Citation[];
  warnings: string[];
}

export type AnswerEvent =
  | {type: 'queued'; position: number; eta_s: number}
  | {type: 'sources'; citations: Citation[]}
  | {type: 'quote'; text: string; citation: Citation}
  | {type: 'sentence'; text: string; citations: number[]}
  | ({type: 'done'} & Answer)
  | {type: 'error'; detail: string};

export interface ChatRequest {
  session_id: string;
  message: string;
  selected_text?: string;
  mode?: Mode;
  book?: string;
}

/** One stored message of a conversation. */
export interface StoredMessage {
  id: string;
  role: 'user' | 'assistant';
  text: string;
  /** ISO 8601, UTC. */
  created: string;
  mode: Mode | null;
  kind: AnswerKind | null;
  selected_text: string;
  citations: Citation[];
}

/** One conversation in the list of this browser's conversations. */
export interface StoredSession {
  id: string;
  title: string;
  created: string;
  updated: string;
  message_count: number;
}

export type Verdict = 'up' | 'down';

/** `application/problem+json`. */
export interface Problem {
  detail?: string;
  retry_after_s?: number;
}
