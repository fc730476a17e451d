/** The server as the widget sees it. */

import {answerEvents, type StreamEvent} from './stream.ts';
import type {ChatRequest, Problem, StoredMessage, StoredSession, Verdict} from './wire.ts';

/** The server refused; `message` is fit for the reader. */
export class Refused extends Error {
  readonly status: number;
  /** Seconds until the next question is admitted; 0 if that is not why. */
  readonly retryAfter_s: number;

  constructor(status: number, message: string, retryAfter_s: number) {
    super(message);
    this.status = status;
    this.retryAfter_s = retryAfter_s;
  }
}

/** The events of an answer, and the id under which it is stored. */
export interface Asking {
  events: AsyncGenerator<StreamEvent>;
  messageId: () => string;
  /** When the server heard the question, once it has; its conversation keeps the same. */
  askedAt: () => string;
}

/** No answer to a short request within this time counts as no server. */
const PATIENCE_MS = 10_000;
/** The same before selected text is offered: its reader waits for the toolbar. */
const TOOLBAR_MS = 400;

export class Api {
  readonly base: URL;
  readonly #secret: string;
  readonly #fetch: typeof fetch;
  #told = false;

  /**
   * @param base Address of the server, as `addressOf` gives it.
   * @param secret This browser's secret.
   */
  constructor(base: URL, secret: string, fetcher: typeof fetch = (...request) => fetch(...request)) {
    this.base = base;
    this.#secret = secret;
    this.#fetch = fetcher;
  }

  /** Ask; closing `signal` tells the server to stop. */
  ask(question: ChatRequest, signal: AbortSignal): Asking {
    return this.#follow('chat?blocks=true', {method: 'POST', body: JSON.stringify(question)}, signal);
  }

  /** Follow an answer that is being written for another page, or was for this one before it was loaded again. */
  resume(message: string, signal: AbortSignal): Asking {
    return this.#follow(`messages/${message}/events?blocks=true`, {}, signal);
  }

  /** End an answer for good: no page goes on with it. */
  async stop(message: string): Promise<void> {
    await this.#brief(`messages/${message}/events`, 'DELETE');
  }

  #follow(path: string, request: RequestInit, signal: AbortSignal): Asking {
    let messageId = '';
    let askedAt = '';
    const connect = async (lastEventId: string): Promise<Response> => {
      const headers: Record<string, string> = {'Content-Type': 'application/json', Accept: 'text/event-stream'};
      if (lastEventId) headers['Last-Event-ID'] = lastEventId;
      const response = await this.#send(path, {...request, headers, signal});
      messageId = response.headers.get('x-lutrin-message') ?? messageId;
      askedAt = response.headers.get('x-lutrin-asked') ?? askedAt;
      return response;
    };
    return {events: answerEvents(connect, {signal}), messageId: () => messageId, askedAt: () => askedAt};
  }

  /** How the language model is doing, as a server that is ready says it; of older servers nothing. */
  async model(): Promise<{model_state?: string; model_progress?: string}> {
    return this.#json('ready');
  }

  /** Whether a model or a prepared entry would answer. */
  async explains(question: object): Promise<{explains: boolean}> {
    return (await this.#brief('api/explains', 'POST', question, TOOLBAR_MS)).json() as Promise<{explains: boolean}>;
  }

  async history(session: string): Promise<StoredMessage[]> {
    const {messages} = await this.#json<{messages: StoredMessage[]}>(`history/${encodeURIComponent(session)}?blocks=true`);
    return messages;
  }

  /** All messages of a conversation that is stored, oldest first. */
  async everything(session: string): Promise<StoredMessage[]> {
    const {messages} = await this.#json<{messages: StoredMessage[]}>(`sessions/${encodeURIComponent(session)}/export?form=json&blocks=true`);
    return messages;
  }

  async sessions(): Promise<StoredSession[]> {
    return (await this.#json<{sessions: StoredSession[]}>('sessions')).sessions;
  }

  async rename(session: string, title: string): Promise<void> {
    await this.#brief(`sessions/${encodeURIComponent(session)}`, 'PATCH', {title});
  }

  async remove(session: string): Promise<void> {
    await this.#brief(`sessions/${encodeURIComponent(session)}`, 'DELETE');
  }

  async exported(session: string, form: 'markdown' | 'json'): Promise<Blob> {
    return (await this.#brief(`sessions/${encodeURIComponent(session)}/export?form=${form}`, 'GET')).blob();
  }

  async judge(messageId: string, value: Verdict, comment: string): Promise<void> {
    await this.#brief(`messages/${messageId}/feedback`, 'POST', {value, comment});
  }

  async #json<T>(path: string): Promise<T> {
    return (await (await this.#brief(path, 'GET')).json()) as T;
  }

  #brief(path: string, method: string, body?: object, patience_ms = PATIENCE_MS): Promise<Response> {
    const request: RequestInit = {method, signal: AbortSignal.timeout(patience_ms)};
    if (body) Object.assign(request, {body: JSON.stringify(body), headers: {'Content-Type': 'application/json'}});
    return this.#send(path, request);
  }

  async #send(path: string, request: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await this.#fetch(new URL(path, this.base), {
        ...request,
        headers: {...request.headers, 'X-Lutrin-Client': this.#secret},
        credentials: 'omit',
        cache: 'no-store',
        referrerPolicy: 'no-referrer',
      });
    } catch (error) {
      if (error instanceof TypeError) void this.#tellAuthor();
      throw error;
    }
    if (!response.ok) throw await refusal(response);
    return response;
  }

  /**
   * A script is not told whether a server is away or refuses the page's origin. The widget's own file may be loaded by
   * every page, so that it tells the two apart; whoever made the page reads in the console what to do.
   */
  async #tellAuthor(): Promise<void> {
    const page = globalThis.location?.origin;
    if (this.#told || !page || page === this.base.origin) return;
    this.#told = true;
    const file = new URL('widget/lutrin.js', this.base);
    const there = await this.#fetch(file, {mode: 'no-cors', credentials: 'omit', cache: 'no-store'}).then(
      () => true,
      () => false,
    );
    console.error(
      there
        ? `lutrin-chat: the server at ${this.base.origin} is there, but refuses pages of ${page}. Name this origin in LUTRIN_CORS_ORIGINS.`
        : `lutrin-chat: no server answers at ${this.base.href}. Is it running, and is \`api\` right?`,
    );
  }
}

/**
 * The server's address, or undefined where none is set: it is never guessed.
 *
 * @param api As the page's author wrote it; `/` is the page's own server.
 * @param page Address that a relative one starts from.
 */
export function addressOf(api: string | null | undefined, page: string): URL | undefined {
  if (!api?.trim()) return undefined;
  try {
    const url = new URL(api.trim(), page);
    if (!/^https?:$/.test(url.protocol)) return undefined;
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    url.search = url.hash = '';
    return url;
  } catch {
    return undefined;
  }
}

async function refusal(response: Response): Promise<Refused> {
  let problem: Partial<Problem> = {};
  try {
    problem = (await response.json()) as Partial<Problem>;
  } catch {
    // A proxy's page in place of the server's words: the status has to be enough.
  }
  const retryAfter_s = problem.retry_after_s ?? Number(response.headers.get('retry-after') ?? 0);
  return new Refused(response.status, problem.detail ?? '', response.status === 429 ? Math.max(1, retryAfter_s) : 0);
}
