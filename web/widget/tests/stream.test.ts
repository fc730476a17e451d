import {expect, test} from 'vitest';
import {answerEvents, type StreamEvent} from '../src/stream.ts';
import type {AnswerEvent} from '../src/wire.ts';

const EXCERPT = {type: 'excerpt', n: 1, text: 'A node does one job.', marks: [[2, 6]], url: '/read/b/nodes#node'};
const SENTENCE = {type: 'sentence', text: 'Ja, “so” – ünd 机器人.', citations: [1]};
const DONE = {type: 'done', answer: 'All.', sources: [], mode: 'book', kind: 'generated', refusal: null, suggestions: [], warnings: []};

/** Bytes of events as the server frames them, numbered from `first`. */
function frames(events: object[], first = 1): Uint8Array {
  const text = events.map((event, index) => `id: s.${first + index}\nevent: ${(event as AnswerEvent).type}\ndata: ${JSON.stringify(event)}\n\n`);
  return new TextEncoder().encode(text.join(''));
}

/** A response that delivers pieces, then ends, breaks or says nothing more. */
function response(pieces: Uint8Array[], end: 'closed' | 'broken' | 'silent' = 'closed'): Response {
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else if (end === 'closed') controller.close();
      else if (end === 'broken') controller.error(new TypeError('network error'));
      else return new Promise(() => undefined);
      return undefined;
    },
  });
  return new Response(body, {headers: {'Content-Type': 'text/event-stream; charset=utf-8'}});
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const collected = [];
  for await (const event of events) collected.push(event);
  return collected;
}

test('events come out whole however the bytes are cut', async () => {
  const alive = new TextEncoder().encode(': heartbeat\n\n');
  const bytes = new Uint8Array([...frames([EXCERPT]), ...alive, ...frames([SENTENCE, DONE], 2)]);
  for (const size of [1, 2, 3, 7, 64]) {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
    expect(await collect(answerEvents(async () => response(pieces)))).toEqual([EXCERPT, SENTENCE, DONE]);
  }
});

test.each(['broken', 'closed'] as const)('a stream that is %s half-way goes on behind its last event, nothing twice', async (end) => {
  const asked: string[] = [];
  const connect = async (lastEventId: string): Promise<Response> => {
    asked.push(lastEventId);
    if (asked.length === 1) return response([frames([EXCERPT])], end);
    // A server may repeat the event that it is not sure of.
    return response([frames([EXCERPT, SENTENCE, DONE])]);
  };
  const events = await collect(answerEvents(connect, {pauses_ms: [0]}));
  expect(asked).toEqual(['', 's.1']);
  expect(events).toEqual([EXCERPT, {type: 'resuming'}, SENTENCE, DONE]);
});

test('an answer that is cut before its first event goes on by its name', async () => {
  const asked: string[] = [];
  const connect = async (lastEventId: string): Promise<Response> => {
    asked.push(lastEventId);
    const answer = asked.length === 1 ? response([], 'broken') : response([frames([EXCERPT, DONE])]);
    answer.headers.set('X-Lutrin-Message', 's');
    return answer;
  };
  const events = await collect(answerEvents(connect, {pauses_ms: [0]}));
  expect(asked).toEqual(['', 's.0']);
  expect(events).toEqual([{type: 'resuming'}, EXCERPT, DONE]);
});

test('silence longer than the server keeps counts as a cut', async () => {
  let connections = 0;
  const connect = async (): Promise<Response> =>
    connections++ === 0 ? response([frames([EXCERPT])], 'silent') : response([frames([DONE], 2)]);
  expect(await collect(answerEvents(connect, {pauses_ms: [0], silence_ms: 20}))).toEqual([EXCERPT, {type: 'resuming'}, DONE]);
});

test('a server that never comes back is given up', async () => {
  let connections = 0;
  const connect = async (): Promise<Response> => {
    if (connections++ === 0) return response([frames([EXCERPT])], 'broken');
    throw new TypeError('Failed to fetch');
  };
  await expect(collect(answerEvents(connect, {pauses_ms: [0, 0]}))).rejects.toThrow(TypeError);
  expect(connections).toBe(3);
});

test('a server that was never there is not tried twice', async () => {
  let connections = 0;
  const connect = async (): Promise<Response> => {
    connections += 1;
    throw new TypeError('Failed to fetch');
  };
  await expect(collect(answerEvents(connect, {pauses_ms: [0]}))).rejects.toThrow(TypeError);
  expect(connections).toBe(1);
});

test('an answer in one piece, as from a proxy that does not stream, is an answer', async () => {
  const body = JSON.stringify({answer: 'All.', citations: [{n: 1}], warnings: ['w']});
  const connect = async (): Promise<Response> => new Response(body, {headers: {'Content-Type': 'application/json'}});
  expect(await collect(answerEvents(connect))).toMatchObject([{type: 'done', answer: 'All.', sources: [{n: 1}], warnings: ['w']}]);
});
