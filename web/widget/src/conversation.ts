/** One conversation: its turns, what it is doing, and the rules of asking. Knows nothing of the page. */

import {Refused, type Api, type Asking} from './api.ts';
import type {StreamEvent} from './stream.ts';
import type {AnswerKind, Block, Citation, Excerpt, Mode, Refusal, Sentence, ShownAnswer, StoredMessage, Verdict, Working} from './wire.ts';
import {blocksOf} from './words.ts';

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
  /** What the model does, while it explains. */
  working: Working | undefined;
  /** The book's answer is there, and the model explains it below. */
  explaining: boolean;
  /** The reader asked for that. */
  askedToExplain: boolean;
  /** The server ended before it was finished. */
  cut: boolean;
  resuming: boolean;
  /** The book's own words, sent before anything is generated. */
  excerpts: Excerpt[];
  /** The answer sentence by sentence; none: `explanation` stands for them. */
  sentences: Sentence[];
  /** What the model explains below the book's answer. */
  plainWords: Sentence[];
  /** The model says that the closest passage answers. */
  confirmed: boolean;
  sources: Citation[];
  /** The whole answer; until it is there, what was streamed stands for it. */
  text: string;
  /** What `text` consists of. */
  blocks: readonly Block[];
  /** What stands in one piece before the excerpts. */
  explanation: readonly Block[];
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
  /** In about so many seconds. */
  eta_s: number | undefined;
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
/** Excerpts are shown without an answer if none has come within this. */
const ANSWERED_MS = 150;
/** Why an answer is followed no longer, if its reader wants no more of it. */
const STOPPED = 'stopped';

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
  /** What went wrong where nothing is heard of the server; empty: the general message. */
  away = '';
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

  /** Whether the model explains an answer; another question stops it. */
  get explaining(): boolean {
    return this.turns.some((turn) => turn.explaining);
  }

  /** Whether a question may be sent now. */
  get ready(): boolean {
    return this.phase === 'idle' && this.wait_s === 0;
  }

  /** Start over with nothing said. */
  clear(): void {
    this.leave();
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
      this.#show(messages, api);
    } catch {
      // Whatever the reason, the reader sees that it failed and may try again or go on.
      if (mine !== this.#restored) return;
      this.restoreFailed = true;
    }
    if (!this.#stopping) this.phase = 'idle';
    this.#changed();
  }

  /** Read again what another tab has changed; what is shown stays meanwhile, and if that fails. */
  refresh(api: Api, session: string): Promise<void> {
    return this.#read(api.history(session), api);
  }

  /** Read the older messages, too. */
  whole(api: Api, session: string): Promise<void> {
    return this.#read(api.everything(session));
  }

  async #read(reading: Promise<StoredMessage[]>, api?: Api): Promise<void> {
    const mine = ++this.#restored;
    const messages = await reading.catch(() => undefined);
    if (messages && mine === this.#restored && this.phase === 'idle' && !this.explaining) this.#show(messages, api);
    this.#changed();
  }

  #show(messages: readonly StoredMessage[], api?: Api): void {
    // What is known already stays what it is: judged, unfolded, hinted at.
    const known = new Map(this.turns.map((turn) => [turn.messageId, turn]));
    this.turns = turnsOf(messages).map((turn) => {
      const before = turn.messageId && known.get(turn.messageId);
      return before ? Object.assign(before, turn, {verdict: before.verdict}) : turn;
    });
    this.older = Boolean(api) && messages.length >= NEWEST;
    const last = this.turns.at(-1);
    if (api && last?.cut) void this.#resume(api, last);
  }

  /** Follow an answer that was being written when the page was loaded. */
  async #resume(api: Api, turn: Turn): Promise<void> {
    // Its reader has seen the model at work, and is told how that ends.
    Object.assign(turn, {cut: false, askedToExplain: true});
    await this.#run(api, turn, (signal) => api.resume(turn.messageId, signal), turn.text ? 'idle' : 'asking').ended;
    if (turn.state === 'failed' && !turn.text) turn.state = 'stopped';
    // Its server has ended since, or the answer is written by another one.
    if (turn.error !== undefined) Object.assign(turn, {cut: true, error: undefined, explainable: Boolean(turn.text)});
    this.#changed();
  }

  /**
   * Ask, and follow the answer; the model goes on explaining after that.
   *
   * @param api undefined where the page names no server: the turn fails.
   * @param explained Called when the model has ended.
   * @returns the turn with the book's answer, or undefined if nothing may be asked now.
   */
  async ask(api: Api | undefined, session: string, question: Question, explained?: () => void): Promise<Turn | undefined> {
    const text = question.text.trim();
    if (!text || !this.ready) return undefined;
    this.stop();
    this.turns = this.turns.filter((turn) => turn.state !== 'failed');
    this.restoreFailed = false;
    const turn = newTurn(text, (question.selectedText ?? '').slice(0, SELECTION_CHARS), question.mode, this.#now());
    this.turns.push(turn);
    if (!api) return this.#fail(turn, '');
    const {answered, ended} = this.#run(api, turn, (signal) => this.#asking(api, turn, session, question, signal));
    await answered;
    void ended.then(explained);
    return turn;
  }

  /** Ask the model to explain an answer, or to look again; the answer stays. `begun` is called when the server has it. */
  async again(api: Api, session: string, turn: Turn, where: Where, begun?: () => void): Promise<void> {
    if (!this.ready) return;
    this.stop();
    Object.assign(turn, {explaining: true, askedToExplain: true, explainable: false, cut: false, error: undefined, plainWords: []});
    const {answered, ended} = this.#run(api, turn, (signal) => this.#asking(api, turn, session, {...where, explain: true}, signal), 'idle');
    void answered.then(begun);
    await ended;
  }

  #run(api: Api, turn: Turn, asking: (signal: AbortSignal) => Asking, phase: Phase = 'asking'): {answered: Promise<void>; ended: Promise<void>} {
    const stopping = (this.#stopping = new AbortController());
    this.phase = phase;
    this.#changed();
    let done = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      done = () => {
        if (this.#stopping === stopping) this.phase = 'idle';
        resolve();
      };
    });
    const follow = async (): Promise<void> => {
      const had = turn.text !== '';
      const {signal} = stopping;
      const asked = asking(signal);
      try {
        await this.#follow(turn, asked, done);
      } catch (error) {
        if (signal.reason === STOPPED && asked.messageId()) void api.stop(asked.messageId()).catch(() => undefined);
        // A reader who stops the model keeps the book's answer, and what the model has said.
        if (signal.aborted) Object.assign(turn, turn.state === 'done' ? {explainable: true} : {state: 'stopped'});
        else this.#fail(turn, error instanceof Refused ? this.#reason(error) : this.away);
        // A limit is said where one types, with the seconds: once is enough.
        if (this.wait_s && !had) this.turns = this.turns.filter((other) => other !== turn || turn.excerpts.length);
      }
      Object.assign(turn, {queue: undefined, working: undefined, explaining: false, resuming: false});
      done();
      if (this.#stopping === stopping) this.#stopping = undefined;
      this.#changed();
    };
    return {answered, ended: follow()};
  }

  /** Stop the answer that is being written, on every page; what came so far stays. */
  stop(): void {
    this.#stopping?.abort(STOPPED);
  }

  /** Follow it no longer; a page that comes back may. */
  leave(): void {
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

  #asking(api: Api, turn: Turn, session: string, {book, page, explain}: Where, signal: AbortSignal): Asking {
    return api.ask(
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
  }

  async #follow(turn: Turn, {events, messageId, askedAt}: Asking, answered: () => void): Promise<void> {
    // What the reader has of the book's answer stays as it is, whatever is sent again.
    const had = turn.state === 'done';
    let isBelow = false;
    const fill = (answer: ShownAnswer): void => {
      if (askedAt()) turn.asked = new Date(askedAt());
      Object.assign(turn, partsOf(answer), {state: 'done', text: answer.answer, sources: answer.sources, messageId: messageId() || turn.messageId});
      turn.blocks = blocksOf(answer.blocks, turn.text);
    };
    for await (const event of events) {
      turn.resuming = event.type === 'resuming';
      if (event.type !== 'queued' && event.type !== 'resuming') turn.queue = undefined;
      if (event.type === 'answer') {
        if (!had) fill(event);
        turn.plainWords = [];
        isBelow = true;
        answered();
      } else if (event.type === 'done') {
        fill(event);
      } else if (event.type === 'error') {
        this.#fail(turn, event.detail);
      } else if (isBelow || !had) {
        this.#take(turn, event, isBelow);
      }
      // The book's answer mostly follows at once, above the excerpts: what is shown is not pushed down by it.
      if (event.type === 'excerpt') setTimeout(this.#changed, ANSWERED_MS);
      else this.#changed();
    }
  }

  /** A part of an answer; `isBelow`: of what the model adds to it. */
  #take(turn: Turn, event: Exclude<StreamEvent, {type: 'answer' | 'done' | 'error'}>, isBelow: boolean): void {
    switch (event.type) {
      case 'queued':
        turn.queue = event;
        turn.explaining = isBelow;
        break;
      case 'working':
        turn.working = event;
        turn.explaining = isBelow;
        break;
      case 'sources':
        turn.sources = event.citations;
        if (!isBelow) turn.excerpts = turn.sentences = [];
        break;
      case 'excerpt':
        if (!isBelow) turn.state = 'streaming';
        turn.excerpts = [...turn.excerpts, event];
        break;
      case 'sentence':
        if (isBelow) turn.plainWords = [...turn.plainWords, event];
        else turn.sentences = [...turn.sentences, event];
        if (!isBelow) turn.state = 'streaming';
    }
  }

  #fail(turn: Turn, reason: string): Turn {
    if (turn.state !== 'done') turn.state = 'failed';
    else turn.explainable = true;
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
    working: undefined,
    explaining: false,
    askedToExplain: false,
    cut: false,
    resuming: false,
    excerpts: [],
    sentences: [],
    plainWords: [],
    confirmed: false,
    sources: [],
    text: '',
    blocks: [],
    explanation: [],
    closest: false,
    meant: '',
    kind: undefined,
    refusal: undefined,
    suggestions: [],
    warnings: [],
    preparedBy: '',
    explainable: false,
    eta_s: undefined,
    messageId: '',
    verdict: undefined,
    error: undefined,
  };
}

/** What an answer and a stored one have in common, as a turn has it. */
function partsOf(answer: ShownAnswer | StoredMessage): Partial<Turn> {
  return {
    explanation: blocksOf(answer.explanation_blocks, answer.explanation),
    sentences: answer.sentences,
    excerpts: answer.excerpts,
    closest: answer.closest,
    meant: answer.meant,
    kind: answer.kind ?? undefined,
    refusal: answer.refusal ?? undefined,
    suggestions: answer.suggestions,
    warnings: answer.warnings,
    preparedBy: answer.prepared_by,
    plainWords: answer.plain_words ?? [], // of a server that is older, nothing
    confirmed: answer.confirmed,
    explainable: answer.explainable,
    eta_s: answer.eta_s ?? undefined,
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
      state: message.text ? ('done' as const) : ('stopped' as const),
      cut: message.unfinished,
      text: message.text,
      blocks: blocksOf(message.blocks, message.text),
      sources: message.citations,
      messageId: message.id,
      ...partsOf(message),
    };
    if (last && last.state === 'stopped') {
      Object.assign(last, answer);
      // Asked again for an explanation, a question has two answers: the second has all of the first.
      const before = turns.at(-2);
      if (before?.kind && before.kind !== 'generated' && before.question === last.question && before.selectedText === last.selectedText) turns.splice(-2, 1);
    } else turns.push({...newTurn('', '', undefined, created.getTime()), ...answer});
  }
  return turns;
}

/** What stands above the excerpts in one piece: of an answer without sentences what was prepared, of one without excerpts all of it. */
export function saidOf(turn: Turn): readonly Block[] {
  if (turn.sentences.length) return [];
  return turn.excerpts.length ? turn.explanation : turn.blocks;
}

/** What is cited, in the order of its numbers: a whole answer has no other sources; before, what sentences and excerpts name. */
export function citedBy(turn: Turn): Citation[] {
  const cited = new Set([...turn.sentences.flatMap(({citations}) => citations), ...turn.excerpts.map(({n}) => n)]);
  return turn.sources.filter(({n}) => turn.text || cited.has(n));
}

/** The source that `[n]` means. */
export function citationOf(turn: Turn, n: number): Citation | undefined {
  return turn.sources.find((source) => source.n === n);
}

/** Title of the book that a source stands in; empty: the one that is open. */
export function bookOf({book, book_title}: Citation, open: string | null): string {
  return book === open ? '' : book_title;
}

/** An answer as text that leaves the panel: its words, or what came of them, then where each source that it cites stands. */
export function answerText(turn: Turn, hrefOf: (citation: Citation) => string): string {
  const said = turn.sentences.map(({text, citations}) => [text, ...citations.map((n) => `[${n}]`)].join(' ')).join(' ');
  const text = turn.text || [said, ...turn.excerpts.map((excerpt) => `${excerpt.text} [${excerpt.n}]`)].filter(Boolean).join('\n\n');
  return [text, sourceLines(turn, hrefOf).join('\n')].filter(Boolean).join('\n\n');
}

/** Where each source that an answer cites stands. */
export function sourceLines(turn: Turn, hrefOf: (citation: Citation) => string): string[] {
  return citedBy(turn).map((source) => `[${source.n}] ${[source.book_title, source.chapter, source.section_title].filter(Boolean).join(', ')} (${hrefOf(source)})`);
}
