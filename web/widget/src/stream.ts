/** An answer as it comes: Server-Sent Events over `fetch`, taken up again where the connection was cut. */

import type {AnswerEvent, ChatReply} from './wire.ts';

/** Sends the request; `lastEventId` is empty at first, later the id after which to go on. Rejects on a bad status. */
export type Connect = (lastEventId: string) => Promise<Response>;

/** A cut connection, told to the reader before it is tried again. */
export type StreamEvent = AnswerEvent | {type: 'resuming'};

export interface StreamOptions {
  /** Pauses before each attempt to resume. */
  pauses_ms?: readonly number[];
  /** Silence after which a connection counts as cut; the server gives a sign of life every 10 s. */
  silence_ms?: number;
  signal?: AbortSignal;
}

class Cut extends Error {}

/**
 * The events of one answer, each once, the last of them `done` or `error`.
 *
 * @throws TypeError where the server cannot be reached or does not come back.
 * @throws whatever `connect` throws for a bad status.
 */
export async function* answerEvents(connect: Connect, options: StreamOptions = {}): AsyncGenerator<StreamEvent> {
  const {pauses_ms = [500, 1500, 4000], silence_ms = 30_000, signal} = options;
  let lastEventId = '';
  for (let attempt = 0; ; attempt += 1) {
    try {
      const response = await connect(lastEventId);
      // Cut before its first event, an answer is known by its name alone.
      const name = response.headers.get('X-Lutrin-Message');
      if (name && lastEventId === '') lastEventId = `${name}.0`;
      for await (const {id, event} of eventsOf(response, silence_ms)) {
        if (id !== '' && id === lastEventId) continue;
        lastEventId = id || lastEventId;
        attempt = 0;
        yield event;
        if (event.type === 'done' || event.type === 'error') return;
      }
      throw new Cut('the stream ended before the answer did');
    } catch (error) {
      const cut = error instanceof Cut || error instanceof TypeError;
      const pause_ms = pauses_ms[attempt];
      if (!cut || signal?.aborted || lastEventId === '' || pause_ms === undefined) {
        throw error instanceof Cut ? new TypeError(error.message) : error;
      }
      yield {type: 'resuming'};
      await new Promise((resolve) => setTimeout(resolve, pause_ms));
      signal?.throwIfAborted();
    }
  }
}

async function* eventsOf(response: Response, silence_ms: number): AsyncGenerator<{id: string; event: AnswerEvent}> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    // Something between us and the server does not pass streams on.
    yield {id: '', event: doneEvent((await response.json()) as ChatReply)};
    return;
  }
  const reader = response.body?.getReader();
  if (!reader) throw new Cut('the response has no body');
  const decoder = new TextDecoder();
  let [rest, ended] = ['', false];
  try {
    for (;;) {
      const {done, value} = await withinSilence(reader.read(), silence_ms);
      if (done) return;
      const frames = (rest + decoder.decode(value, {stream: true})).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        // As the server frames it: one line each of `id`, `event` and `data`; a comment is a sign of life.
        const {id = '', data} = Object.fromEntries(frame.split('\n').map((line) => line.split(/: (.*)/)));
        if (!data) continue;
        const event = JSON.parse(data) as AnswerEvent;
        ended ||= event.type === 'done' || event.type === 'error';
        yield {id, event};
      }
    }
  } finally {
    // Behind the last event comes only the end; a connection that is cancelled there looks like a reader who left.
    void (ended ? reader.read() : reader.cancel()).catch(() => undefined);
  }
}

function doneEvent(reply: ChatReply): AnswerEvent {
  return {...reply, type: 'done', sources: reply.citations};
}

async function withinSilence<T>(reading: Promise<T>, silence_ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Cut('the connection went silent')), silence_ms);
  });
  try {
    return await Promise.race([reading, silence]);
  } finally {
    clearTimeout(timer);
  }
}
