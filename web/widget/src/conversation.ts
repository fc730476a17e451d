/** One conversation: its turns, what it is doing, and the rules of asking. Knows nothing of the page. */

import {Refused, type Api} from './api.ts';
import {citedNumbers} from './markdown/index.ts';
import type {Answer, AnswerKind, Citation, Excerpt, Mode, Refusal, Sentence, StoredMessage, Verdict} from './wire.ts';

export type TurnState = 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';

/** A question and what became of it. */
export interface Turn {
  question: string;
  selectedText: string;
  mode: Mode | undefined;
  asked: Date;
  state: TurnState;
  /** Readers before this one, while the model is busy. */
  queue: {position: number; eta_s: number} | undefined;
  resuming: boolean;
  /** The book's own words, sent before anything is generated. */
  excerpts: Excerpt[];
  /** The answer sentence by sentence; none: `explanation` stands for them. */
  sentences: Sentence[];
  sources: Citation[];
  /** The whole answer; until it is there, what was streamed stands for it. */
  text: string;
  /** The beginning of `text` that precedes the excerpts. */
  explanation: string;
  /** The excerpts are only the closest passage, which may not answer. */
  closest: boolean;
  /** A question that may be meant; empty: none. */
  meant: string;
  kind: AnswerKind | undefined;
  refusal: Refusal | undefined;
  suggestions: string[];
  warnings: string[];
  /** Who wrote the explanation beforehand; empty: nobody did. */
  preparedBy: string;
  /** The model has not explained it, but may if it is asked once more. */
  explainable: boolean;
  messageId: string;
  verdict: Verdict | undefined;
  /** What went wrong; empty: the general message; undefined: nothing. */
  error: string | undefined;
}

export interface Question {
  text: string;
  selectedText?: string;
  mode?: Mode;
  book?: string;
  /** Where the reader is: the page's file name, or the path of its address. */
  page?: string;
}

/** Besides its words, what a question is about, and whether it waits for the model. */
type Where = Pick<Question, 'book' | 'page'> & {explain?: boolean};

export type Phase = 'idle' | 'restoring' | 'asking';

/** Characters of a selection that are sent; the server cuts at 2000 tokens, and reads no body over 64 KiB. */
const SELECTION_CHARS = 12_000;
/** Messages that a history holds at most: with as many, there may be older ones. */
const NEWEST = 50;

export class Conversation {
  turns: Turn[] = [];
  phase: Phase = 'idle';
  /** The stored conversation could not be read. */
  restoreFailed = false;
  /** There may be older messages than those that are shown. */
  older = false;
  /** Why nothing can be asked for `wait_s`, in the server's words. */
  limit = '';
  /** Milliseconds since the epoch at which the next question is admitted. */
  admittedAt_ms = 0;
  readonly #changed: () => void;
  readonly #now: () => number;
  #stopping: AbortController | undefined;
  #restored = 0;

  /**
   * @param changed Called after every change.
   * @param now Milliseconds since the epoch.
   */
  constructor(changed: () => void, now: () => number = Date.now) {
    this.#changed = changed;
    this.#now = now;
  }

  /** Seconds, rounded up, until the next question is admitted. */
  get wait_s(): number {
    return Math.max(0, Math.ceil((this.admittedAt_ms - this.#now()) / 1000));
  }

  /** Whether a question may be sent now. */
  get ready(): boolean {
    return this.phase === 'idle' && this.wait_s === 0;
  }

  /** Start over with nothing said. */
  clear(): void {
    this.stop();
    this.#restored += 1;
    this.turns = [];
    this.phase = 'idle';
    this.restoreFailed = this.older = false;
    this.#changed();
  }

  /** Read a stored conversation; nothing can be asked meanwhile. */
  async restore(api: Api, session: string): Promise<void> {
    this.clear();
    const mine = this.#restored;
    this.phase = 'restoring';
    this.#changed();
    try {
      const messages = await api.history(session);
      if (mine !== this.#restored) return;
      this.#show(messages);
    } catch {
      // Whatever the reason, the reader sees that it failed and may try again or go on.
      if (mine !== this.#restored) return;
      this.restoreFailed = true;
    }
    this.phase = 'idle';
    this.#changed();
  }

  /** Read again what another tab has changed; what is shown stays meanwhile, and if that fails. */
  async refresh(api: Api, session: string): Promise<void> {
    const mine = ++this.#restored;
    const messages = await api.history(session).catch(() => undefined);
    if (messages && mine === this.#restored && this.phase === 'idle') this.#show(messages);
    this.#changed();
  }

  /** Read the older messages, too. */
  async whole(api: Api, session: string): Promise<void> {
    const mine = ++this.#restored;
    const messages = await api.everything(session).catch(() => undefined);
    if (messages && mine === this.#restored && this.phase === 'idle') {
      this.#show(messages);
      this.older = false;
    }
    this.#changed();
  }

  #show(messages: readonly StoredMessage[]): void {
    const verdicts = new Map(this.turns.map(({messageId, verdict}) => [messageId, verdict]));
    this.turns = turnsOf(messages);
    for (const turn of this.turns) turn.verdict = verdicts.get(turn.messageId);
    this.older = messages.length >= NEWEST;
  }

  /**
   * Ask, and follow the answer to its end.
   *
   * @param api undefined where the page names no server: the turn fails.
   * @returns the turn, or undefined if nothing may be asked now.
   */
  async ask(api: Api | undefined, session: string, question: Question): Promise<Turn | undefined> {
    const text = question.text.trim();
    if (!text || !this.ready) return undefined;
    this.turns = this.turns.filter((turn) => turn.state !== 'failed');
    this.restoreFailed = false;
    const turn = newTurn(text, (question.selectedText ?? '').slice(0, SELECTION_CHARS), question.mode, this.#now());
    this.turns.push(turn);
    if (!api) return this.#fail(turn, '');
    await this.#run(api, turn, session, question);
    return turn;
  }

  /** Ask once more for the explanation that an answer lacks; the answer stays until there is a better one. */
  async again(api: Api, session: string, turn: Turn, where: Where): Promise<void> {
    if (!this.ready) return;
    const before = {...turn};
    Object.assign(turn, {state: 'streaming', suggestions: [], error: undefined});
    await this.#run(api, turn, session, {...where, explain: true});
    if (turn.state !== 'done') Object.assign(turn, before, {error: turn.error});
    this.#changed();
  }

  async #run(api: Api, turn: Turn, session: string, where: Where): Promise<void> {
    this.phase = 'asking';
    this.#changed();
    const stopping = (this.#stopping = new AbortController());
    try {
      await this.#follow(api, turn, session, where, stopping.signal);
    } catch (error) {
      if (stopping.signal.aborted) turn.state = 'stopped';
      else this.#fail(turn, error instanceof Refused ? this.#reason(error) : '');
      // A limit is said where one types, with the seconds: once is enough.
      if (this.wait_s) this.turns = this.turns.filter((other) => other !== turn || turn.excerpts.length);
    }
    turn.queue = undefined;
    turn.resuming = false;
    if (this.#stopping === stopping) {
      this.#stopping = undefined;
      this.phase = 'idle';
    }
    this.#changed();
  }

  /** Stop the answer that is being written; what came so far stays. */
  stop(): void {
    this.#stopping?.abort();
  }

  async judge(api: Api, turn: Turn, verdict: Verdict, comment = ''): Promise<void> {
    const before = turn.verdict;
    turn.verdict = verdict;
    this.#changed();
    try {
      await api.judge(turn.messageId, verdict, comment);
    } catch {
      // Not worth a message of its own: the thumb springs back.
      turn.verdict = before;
      this.#changed();
    }
  }

  async #follow(api: Api, turn: Turn, session: string, {book, page, explain}: Where, signal: AbortSignal): Promise<void> {
    const {events, messageId, askedAt} = api.ask(
      {
        session_id: session,
        message: turn.question,
        ...(turn.selectedText && {selected_text: turn.selectedText}),
        ...(turn.mode && {mode: turn.mode}),
        ...(book && {book}),
        ...(page && {page}),
        explain: Boolean(explain),
      },
      signal,
    );
    // Asked again, an answer has excerpts and sentences already.
    const begun = {excerpts: false, sentences: false};
    for await (const event of events) {
      turn.resuming = event.type === 'resuming';
      if (event.type !== 'queued' && event.type !== 'resuming') turn.queue = undefined;
      switch (event.type) {
        case 'queued':
          turn.queue = event;
          break;
        case 'sources':
          turn.sources = event.citations;
          break;
        case 'excerpt':
          turn.state = 'streaming';
          turn.excerpts = begun.excerpts ? [...turn.excerpts, event] : [event];
          begun.excerpts = true;
          break;
        case 'sentence':
          turn.state = 'streaming';
          turn.sentences = begun.sentences ? [...turn.sentences, event] : [event];
          begun.sentences = true;
          break;
        case 'done':
          turn.state = 'done';
          if (askedAt()) turn.asked = new Date(askedAt());
          turn.text = event.answer;
          turn.sources = event.sources;
          turn.messageId = messageId();
          Object.assign(turn, partsOf(event));
          break;
        case 'error':
          this.#fail(turn, event.detail);
      }
      this.#changed();
    }
  }

  #fail(turn: Turn, reason: string): Turn {
    turn.state = 'failed';
    turn.error = reason;
    this.#changed();
    return turn;
  }

  /** What the reader is told of a refusal; an unexpected one has the general message. */
  #reason(error: Refused): string {
    if (error.retryAfter_s) {
      this.admittedAt_ms = this.#now() + error.retryAfter_s * 1000;
      this.limit = error.message;
    }
    return error.status < 500 || error.status === 503 ? error.message : '';
  }
}

function newTurn(question: string, selectedText: string, mode: Mode | undefined, asked_ms: number): Turn {
  return {
    question,
    selectedText,
    mode,
    asked: new Date(asked_ms),
    state: 'waiting',
    queue: undefined,
    resuming: false,
    excerpts: [],
    sentences: [],
    sources: [],
    text: '',
    explanation: '',
    closest: false,
    meant: '',
    kind: undefined,
    refusal: undefined,
    suggestions: [],
    warnings: [],
    preparedBy: '',
    explainable: false,
    messageId: '',
    verdict: undefined,
    error: undefined,
  };
}

/** What an answer and a stored one have in common, as a turn has it. */
function partsOf(answer: Answer | StoredMessage): Partial<Turn> {
  return {
    explanation: answer.explanation,
    sentences: answer.sentences,
    excerpts: answer.excerpts,
    closest: answer.closest,
    meant: answer.meant,
    kind: answer.kind ?? undefined,
    refusal: answer.refusal ?? undefined,
    suggestions: answer.suggestions,
    warnings: answer.warnings,
    preparedBy: answer.prepared_by,
    explainable: answer.explainable,
  };
}

/** Stored messages as turns; an answer whose question was left out (only the newest 50 are sent) stands alone. */
export function turnsOf(messages: readonly StoredMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    const created = new Date(message.created);
    if (message.role === 'user') {
      const turn = newTurn(message.text, message.selected_text, message.mode ?? undefined, created.getTime());
      turns.push({...turn, state: 'stopped'});
      continue;
    }
    const answer = {
      state: 'done' as const,
      text: message.text,
      sources: message.citations,
      messageId: message.id,
      ...partsOf(message),
    };
    if (last && last.state === 'stopped') {
      Object.assign(last, answer);
      // Asked again for an explanation, a question has two answers: the second has all of the first.
      const before = turns.at(-2);
      if (before?.kind === 'extractive' && before.question === last.question && before.selectedText === last.selectedText) turns.splice(-2, 1);
    } else turns.push({...newTurn('', '', undefined, created.getTime()), ...answer});
  }
  return turns;
}

/**
 * What stands above the excerpts in one piece, in Markdown with `[n]` markers: of an answer without sentences what was
 * prepared, of one without excerpts all of it.
 */
export function textOf(turn: Turn): string {
  if (turn.sentences.length) return '';
  return turn.excerpts.length ? turn.explanation : turn.text;
}

/** What is cited, in the order of its numbers: by the sentences or the text beside the excerpts, and by the excerpts. */
export function citedBy(turn: Turn): Citation[] {
  const said = turn.sentences.flatMap(({citations}) => citations);
  const cited = new Set([...said, ...citedNumbers(textOf(turn)), ...turn.excerpts.map(({n}) => n)]);
  return turn.sources.filter(({n}) => cited.has(n));
}

/** The source that `[n]` means. */
export function citationOf(turn: Turn, n: number): Citation | undefined {
  return turn.sources.find((source) => source.n === n);
}
