/**
 * A small honest server that speaks the contract and answers what a test tells it to: the widget's double for the
 * real one. It keeps conversations by session and secret, streams events with ids, resumes after `Last-Event-ID`, and
 * has texts parsed by the real one's parser.
 */

import {randomUUID} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {Answer, AnswerEvent, ChatRequest, Citation, Excerpt, Problem, ShownAnswer, StoredMessage} from '../../widget/src/wire.ts';
import {pages} from './pages.ts';
import {TextParser} from './text-parser.ts';

const WIDGET = new URL('../../../src/lutrin/serve/static/widget/', import.meta.url);

/** As strict as the policy of Lutrin's own pages. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; " +
  "require-trusted-types-for 'script'; trusted-types lit-html; connect-src 'self'";

/** What happens next in an answer. */
export type Step =
  | {send: AnswerEvent}
  | {pause_ms: number}
  /** The connection breaks here, once. */
  | {cut: true}
  /** Nothing more comes until the reader leaves. */
  | {hang: true}
  | {status: number; problem: Partial<Problem>; retryAfter_s?: number};

export type Script = (request: ChatRequest) => Step[];

interface Stream {
  steps: Step[];
  session: string;
  body: string;
  /** Steps that are over: who comes later does not wait for them again. */
  over: number;
}

export class ScriptedServer {
  /** Requests for answers, as they came. */
  readonly asked: ChatRequest[] = [];
  /** Judgements: message id, value, comment. */
  readonly judged: {id: string; value: string; comment: string}[] = [];
  /** Questions whose reader left before the end. */
  readonly left: string[] = [];
  readonly resumed: string[] = [];
  /** Messages whose answer a page that was loaded again followed. */
  readonly followed: string[] = [];
  readonly secrets = new Set<string>();
  script: Script = () => [];
  /** Milliseconds before `/history` answers. */
  historyPause_ms = 0;
  down = false;
  /** Milliseconds before it tells whether it explains a text. */
  explainsPause_ms = 0;
  /** What `/ready` says of the model. */
  model: {model_state?: string; model_progress?: string} = {};
  readonly #api: string;
  readonly #http: Server;
  readonly #parser = new TextParser();
  readonly #sessions = new Map<string, {title: string; created: string; messages: StoredMessage[]}>();
  readonly #streams = new Map<string, Stream>();

  /** @param api Server that the pages' widget asks: this one, or another origin. */
  constructor(api = '/') {
    this.#api = api;
    this.#http = createServer((request, response) => void this.#handle(request, response));
  }

  /** @param port 0: any that is free. */
  async listen(port = 0): Promise<string> {
    await new Promise<void>((resolve) => this.#http.listen(port, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#parser.close();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  /** Back to the beginning, for the next test. */
  reset(): void {
    this.asked.length = this.judged.length = this.left.length = this.resumed.length = this.followed.length = 0;
    this.secrets.clear();
    this.#sessions.clear();
    this.#streams.clear();
    this.script = () => [];
    this.historyPause_ms = 0;
    this.explainsPause_ms = 0;
    this.down = false;
    this.model = {};
  }

  /** As after a restart: what was being written is known no more. */
  forgetStreams(): void {
    this.#streams.clear();
  }

  messages(): StoredMessage[] {
    return [...this.#sessions.values()].flatMap(({messages}) => messages);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const {pathname, searchParams} = new URL(request.url ?? '/', 'http://server');
    const secret = String(request.headers['x-lutrin-client'] ?? '');
    if (secret) this.secrets.add(secret);
    const [, first = '', second = '', third = ''] = pathname.split('/').map(decodeURIComponent);
    const key = `${secret} ${second}`;
    const known = this.#sessions.get(key);
    if (request.method === 'GET' && /^\/widget\/(?:lutrin|practice)\.js$/.test(pathname)) return this.#file(response, second);
    const page = pages(this.#api)[pathname];
    if (request.method === 'GET' && page) return this.#page(response, page);
    if (this.down) return void request.socket.destroy();
    if (request.method === 'OPTIONS') return json(response, 405, {}); // no page of another origin is let in
    if (first === 'ready') return json(response, 200, {ready: true, ...this.model});
    if (second === 'explains') {
      await pause(this.explainsPause_ms);
      return json(response, 200, {explains: true});
    }
    if (first === 'chat') return this.#chat(request, response, secret, searchParams);
    if (first === 'history') {
      await pause(this.historyPause_ms);
      return json(response, 200, {messages: await this.#parsed(known?.messages.slice(-50) ?? [], searchParams)});
    }
    if (first === 'sessions' && !second) {
      const mine = [...this.#sessions].filter(([name]) => name.startsWith(`${secret} `)).reverse();
      const sessions = mine.map(([name, {title, created, messages}]) => ({
        id: name.split(' ')[1],
        title,
        created,
        updated: messages.at(-1)?.created ?? created,
        message_count: messages.length,
      }));
      return json(response, 200, {sessions});
    }
    if (first === 'sessions' && known) {
      if (third === 'export') {
        const markdown = known.messages.map(({text}) => text).join('\n\n');
        return json(response, 200, searchParams.get('form') === 'json' ? {messages: await this.#parsed(known.messages, searchParams)} : markdown);
      }
      if (request.method === 'DELETE') this.#sessions.delete(key);
      if (request.method === 'PATCH') known.title = (JSON.parse(await read(request)) as {title: string}).title;
      return json(response, request.method === 'DELETE' ? 204 : 200, {id: second});
    }
    if (first === 'messages' && third === 'events') {
      const stream = this.#streams.get(second);
      if (!stream?.session.startsWith(`${secret} `)) return json(response, 404, {detail: 'There is nothing by that name here.'});
      if (request.method === 'DELETE') {
        for (const message of this.messages()) if (message.id === second) Object.assign(message, {unfinished: false, explainable: true});
        return json(response, 204, {});
      }
      this.followed.push(second);
      return this.#play(response, second, stream, JSON.parse(stream.body) as ChatRequest, new Date().toISOString(), 0, true, searchParams);
    }
    if (first === 'messages' && third === 'feedback') {
      const {value, comment} = JSON.parse(await read(request)) as {value: string; comment: string};
      this.judged.push({id: second, value, comment});
      return json(response, 204, {});
    }
    return json(response, 404, {detail: 'There is nothing by that name here.'});
  }

  /** Messages with what their texts consist of, if that is asked for. */
  async #parsed(messages: readonly StoredMessage[], wishes: URLSearchParams): Promise<StoredMessage[]> {
    return wishes.has('blocks') ? Promise.all(messages.map((message) => this.#parser.message(message))) : [...messages];
  }

  async #chat(request: IncomingMessage, response: ServerResponse, secret: string, wishes: URLSearchParams): Promise<void> {
    const body = await read(request);
    const [resumedId = '', after = '0'] = String(request.headers['last-event-id'] ?? '').split('.');
    const resumed = this.#streams.get(resumedId);
    const asked = JSON.parse(body) as ChatRequest;
    if (resumed) this.resumed.push(asked.message);
    else this.asked.push(asked);
    const id = resumed ? resumedId : randomUUID().replaceAll('-', '');
    const stream = resumed ?? {steps: this.script(asked), session: `${secret} ${asked.session_id}`, body, over: 0};
    this.#streams.set(id, stream);
    const failed = stream.steps.find((step) => 'status' in step);
    if (failed && 'status' in failed) {
      if (failed.retryAfter_s) response.setHeader('Retry-After', failed.retryAfter_s);
      return json(response, failed.status, failed.problem, 'application/problem+json');
    }
    const created = new Date().toISOString();
    await this.#play(response, id, stream, asked, created, Number(after), Boolean(resumed), wishes);
  }

  async #play(response: ServerResponse, id: string, stream: Stream, asked: ChatRequest, created: string, after: number, resumed: boolean, wishes: URLSearchParams): Promise<void> {
    response.on('close', () => {
      // The last reader of one test may be gone only in the next.
      if (!response.writableEnded && this.#streams.get(id) === stream) this.left.push(asked.message);
    });
    response.writeHead(200, {'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Lutrin-Message': id, 'X-Lutrin-Asked': created});
    response.flushHeaders();
    let number = 0;
    for (const [at, step] of stream.steps.entries()) {
      if ('send' in step) {
        number += 1;
        if (step.send.type === 'answer') this.#store(stream.session, id, asked, {...step.send, unfinished: true}, created);
        if (number <= after) continue;
        const sent = wishes.has('blocks') ? await this.#parser.event(step.send) : step.send;
        response.write(`id: ${id}.${number}\nevent: ${sent.type}\ndata: ${JSON.stringify(sent)}\n\n`);
        if (step.send.type === 'done') this.#store(stream.session, id, asked, step.send, created);
      } else if ('pause_ms' in step) {
        if (at >= stream.over) await pause(step.pause_ms);
        stream.over = Math.max(stream.over, at + 1);
      } else if ('cut' in step && !resumed) {
        await pause(50);
        return void response.socket?.destroy();
      } else if ('hang' in step) {
        return;
      }
      if (response.destroyed) return;
    }
    response.end();
  }

  #store(key: string, id: string, asked: ChatRequest, answer: ShownAnswer, created: string): void {
    const session = this.#sessions.get(key) ?? {title: asked.message.slice(0, 60), created, messages: []};
    this.#sessions.delete(key); // the one used last is the first
    this.#sessions.set(key, session);
    const common = {session_id: asked.session_id, created, mode: asked.mode ?? 'book', chunk_ids: []};
    const {refusal = null, explanation, sentences, excerpts, closest, meant, suggestions, warnings, prepared_by, plain_words, confirmed, explainable, eta_s = null, unfinished} = answer;
    const parts = {refusal, explanation, sentences, excerpts, closest, meant, suggestions, warnings, prepared_by, plain_words, confirmed, explainable, eta_s, unfinished};
    const none = {refusal: null, explanation: '', sentences: [], excerpts: [], closest: false, meant: '', suggestions: [], warnings: [], prepared_by: '', plain_words: [], confirmed: false, explainable: false, eta_s: null, unfinished: false};
    const stored = session.messages.findIndex((message) => message.id === id);
    if (stored >= 0) session.messages.splice(stored - 1, 2);
    session.messages.push(
      {...common, ...none, id: `${id}q`, role: 'user', text: asked.message, kind: null, selected_text: asked.selected_text ?? '', citations: []},
      {...common, ...parts, id, role: 'assistant', text: answer.answer, kind: answer.kind, selected_text: '', citations: answer.sources},
    );
  }

  #file(response: ServerResponse, name: string): void {
    response.writeHead(200, {'Content-Type': 'text/javascript; charset=utf-8', 'Access-Control-Allow-Origin': '*'});
    response.end(readFileSync(new URL(name, WIDGET)));
  }

  #page(response: ServerResponse, {type, body}: {type: string; body: string}): void {
    response.writeHead(200, {'Content-Type': `${type}; charset=utf-8`, 'Content-Security-Policy': `${POLICY} ${this.#api === '/' ? '' : this.#api}`});
    response.end(body);
  }
}

/** A source as the server sends it. */
export function citation(n: number, changes: Partial<Citation> = {}): Citation {
  return {
    n,
    chunk_id: `chunk-${n}`,
    book: 'lab',
    book_title: '',
    chapter: 'Chapter 1: Nodes',
    section: '01-nodes',
    section_title: 'What a node is',
    filename: 'part-1/01-nodes.md',
    page: null,
    page_label: '',
    url: '/read/lab/part-1/01-nodes#what-a-node-is',
    quote: 'A **node** is a process that does one job.',
    relevance_score: 0.9,
    ...changes,
  };
}

/** A citation's quote as an excerpt, with these words marked. */
export function excerpt({n, quote, section_title, url, chunk_id}: Citation, words = '', changes: Partial<Excerpt> = {}): Excerpt {
  const from = quote.indexOf(words);
  return {
    n,
    text: quote,
    marks: words && from >= 0 ? [[from, from + words.length]] : [],
    cut_before: false,
    cut_after: false,
    heading_path: ['Nodes', section_title],
    url,
    chunk_id,
    header: [],
    ...changes,
  };
}

/** The last event of an answer. */
export function done(answer: string, changes: Partial<Answer> = {}): {send: AnswerEvent} {
  const whole: Answer = {
    answer,
    sources: [],
    mode: 'book',
    kind: 'generated',
    refusal: null,
    suggestions: [],
    warnings: [],
    model_used: '',
    latency_ms: 1,
    generation: '000001-scripted',
    explanation: '',
    sentences: [],
    excerpts: [],
    closest: false,
    meant: '',
    prepared_by: '',
    plain_words: [],
    confirmed: false,
    explainable: false,
    eta_s: null,
    unfinished: false,
    is_cut: false,
    ...changes,
  };
  return {send: {type: 'done', ...whole}};
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}

function json(response: ServerResponse, status: number, body: unknown, type = 'application/json'): void {
  response.writeHead(status, {'Content-Type': type});
  response.end(status === 204 ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
}
