import {expect, test} from 'vitest';
import {addressOf, Api} from '../src/api.ts';
import {Conversation, saidOf, turnsOf, type Turn} from '../src/conversation.ts';
import type {StoredMessage} from '../src/wire.ts';
import {wordsOf} from '../src/words.ts';

const WRONG = {detail: 'Something went wrong. Please try again.'};

/** The real client over a server that is a function. */
function server(answer: (request: Request) => Response | Promise<Response>): Api {
  return new Api(new URL('http://server/'), 'secret-of-this-browser', async (input, init) => answer(new Request(input, init)));
}

function stream(...events: object[]): Response {
  const text = events.map((event, index) => `id: s.${index + 1}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return new Response(text, {headers: {'Content-Type': 'text/event-stream', 'X-Lutrin-Message': 'm1'}});
}

function problem(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {status, headers: {'Content-Type': 'application/problem+json', ...headers}});
}

const EXCERPT = {n: 1, text: 'The book’s.', marks: [[0, 3]], cut_before: false, cut_after: true, heading_path: ['P', 'S'], url: '/read/b/p#s', chunk_id: 'c1'};
const done = (explanation: string, excerpts: object[] = [], sentences: object[] = []): object => ({
  type: 'done', sentences, closest: false, meant: '', answer: [explanation, ...(excerpts.length ? ['The book’s. [1]'] : [])].filter(Boolean).join('\n\n'), explanation, excerpts,
  sources: [], mode: 'book', kind: 'generated', refusal: null, suggestions: [], warnings: [],
});

test('an answer goes from sentences to the whole; excerpts are not shown before what follows them at once', async () => {
  const seen: string[] = [];
  const conversation = new Conversation(() => {
    const turn = conversation.turns[0];
    if (turn) seen.push(`${turn.state} ${turn.excerpts.length} ${turn.sentences.map(({text}) => text).join(' ')}`.trim());
  });
  const sentences = [{text: 'One.', citations: [1], support: 'stated'}, {text: 'Two.', citations: [2], support: 'likely'}];
  const api = server(() =>
    stream(
      {type: 'excerpt', ...EXCERPT},
      ...sentences.map((sentence) => ({type: 'sentence', ...sentence})),
      done('One. [1] Two. [2] †', [EXCERPT], sentences),
    ),
  );
  const turn = await conversation.ask(api, 's', {text: ' What? '});
  expect(turn).toMatchObject({question: 'What?', state: 'done', messageId: 'm1', text: 'One. [1] Two. [2] †\n\nThe book’s. [1]', excerpts: [EXCERPT], sentences});
  expect(turn && saidOf(turn)).toEqual([]);
  expect([...new Set(seen)]).toEqual([
    'waiting 0',
    'streaming 1 One.',
    'streaming 1 One. Two.',
    'done 1 One. Two.',
  ]);
});

test('an event of a kind that a newer server sends is passed over', async () => {
  const conversation = new Conversation(() => undefined);
  const api = server(() => stream({type: 'from-the-future', words: ['?']}, {type: 'sentence', text: 'One.', citations: [1]}, done('One. [1]')));
  expect(await conversation.ask(api, 's', {text: 'What?'})).toMatchObject({state: 'done', text: 'One. [1]'});
});

test('one question at a time, and none that is empty', async () => {
  const conversation = new Conversation(() => undefined);
  let asked = 0;
  const api = server(() => {
    asked += 1;
    return stream(done('A.'));
  });
  const [first, second, empty] = await Promise.all([
    conversation.ask(api, 's', {text: 'one'}),
    conversation.ask(api, 's', {text: 'two'}),
    conversation.ask(api, 's', {text: '   '}),
  ]);
  expect([first?.state, second, empty, asked]).toEqual(['done', undefined, undefined, 1]);
});

test('the secret, the session, the page and the selection are sent, a long selection cut', async () => {
  const conversation = new Conversation(() => undefined);
  let body: Record<string, string> = {};
  const api = server(async (request) => {
    body = {...((await request.json()) as object), client: request.headers.get('x-lutrin-client') ?? ''};
    return stream(done('A.'));
  });
  await conversation.ask(api, 'session-1', {text: 'What?', selectedText: 'x'.repeat(50_000), mode: 'selection', book: 'lab', page: 'part-1/01-nodes.md'});
  expect(body).toMatchObject({session_id: 'session-1', message: 'What?', mode: 'selection', book: 'lab', page: 'part-1/01-nodes.md', client: 'secret-of-this-browser'});
  expect(body['selected_text']).toHaveLength(12_000);
});

test.each([
  ['the server is gone', () => Promise.reject(new TypeError('Failed to fetch')), ''],
  ['500 has the general message', () => problem(500, {detail: 'KeyError'}), ''],
  ['a proxy answers with a page', () => new Response('<h1>Bad gateway</h1>', {status: 502}), ''],
  ['503 says why', () => problem(503, {detail: 'The knowledge base is temporarily unavailable.'}), 'The knowledge base is temporarily unavailable.'],
  ['422 says why', () => problem(422, {detail: 'Please enter a question.'}), 'Please enter a question.'],
  ['an error in the middle of the stream', () => stream({type: 'error', detail: WRONG.detail}), WRONG.detail],
])('a question fails: %s', async (_, answer, error) => {
  const conversation = new Conversation(() => undefined);
  const turn = await conversation.ask(server(answer), 's', {text: 'What?'});
  expect(turn).toMatchObject({state: 'failed', error});
  expect(conversation.phase).toBe('idle');
});

test('without an address every question fails, and nothing is sent anywhere', async () => {
  const conversation = new Conversation(() => undefined);
  expect(await conversation.ask(undefined, 's', {text: 'What?'})).toMatchObject({state: 'failed', error: ''});
});

test('a failed turn makes room for the next question', async () => {
  const conversation = new Conversation(() => undefined);
  await conversation.ask(server(() => problem(500, WRONG)), 's', {text: 'one'});
  await conversation.ask(server(() => stream(done('A.'))), 's', {text: 'two'});
  expect(conversation.turns.map(({question}) => question)).toEqual(['two']);
});

test('over the rate nothing can be asked for exactly as long as the server says', async () => {
  let now_ms = 1_000_000;
  const conversation = new Conversation(() => undefined, () => now_ms);
  const api = server(() => problem(429, {detail: 'Please wait a moment.', retry_after_s: 7}));
  expect(await conversation.ask(api, 's', {text: 'eleventh'})).toMatchObject({error: 'Please wait a moment.'});
  expect([conversation.wait_s, conversation.ready]).toEqual([7, false]);
  now_ms += 6_500;
  expect([conversation.wait_s, conversation.ready]).toEqual([1, false]);
  now_ms += 500;
  expect([conversation.wait_s, conversation.ready]).toEqual([0, true]);
});

test('a stopped answer keeps what came, and the server is told', async () => {
  let left = false;
  const conversation = new Conversation(() => {
    if (conversation.turns[0]?.sentences.length) conversation.stop();
  });
  const api = server((request) => {
    request.signal.addEventListener('abort', () => (left = true));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('id: s.1\ndata: {"type":"sentence","text":"One.","citations":[]}\n\n'));
        request.signal.addEventListener('abort', () => controller.error(request.signal.reason));
      },
    });
    return new Response(body, {headers: {'Content-Type': 'text/event-stream'}});
  });
  const turn = await conversation.ask(api, 's', {text: 'What?'});
  expect([turn?.state, turn?.sentences[0]?.text, left, conversation.phase]).toEqual(['stopped', 'One.', true, 'idle']);
});

test('an answer of excerpts alone has no text beside them, one without excerpts is text', async () => {
  const conversation = new Conversation(() => undefined);
  const shown = async (event: object): Promise<string> => {
    const turn = await conversation.ask(server(() => stream(event)), 's', {text: 'What?'});
    return turn ? wordsOf(saidOf(turn)) : '-';
  };
  expect(await shown(done('', [EXCERPT]))).toBe('');
  expect(await shown({...done(''), answer: 'I couldn’t find that.'})).toBe('I couldn’t find that.');
});

test('a stored answer looks as it did', async () => {
  const parts = {explanation: 'So. [1]', sentences: [], closest: true, meant: 'Which?', excerpts: [EXCERPT], suggestions: ['And then?'], warnings: ['Unplug it.'], refusal: null};
  const blocks = [{type: 'paragraph', children: ['So. ', {type: 'cite', n: 1}]}];
  const message = {id: 'm', explanation_blocks: blocks, role: 'assistant', text: 'So. [1]\n\nThe book’s. [1]', created: '2026-11-21T10:00:00.000+00:00', citations: [], ...parts};
  const conversation = new Conversation(() => undefined);
  await conversation.restore(server(() => new Response(JSON.stringify({messages: [message]}))), 's');
  const [turn] = conversation.turns;
  expect(turn).toMatchObject({...parts, explanation: blocks, refusal: undefined, state: 'done'});
  expect(turn && saidOf(turn)).toEqual(blocks);
});

test('stored messages come back as turns, also when their question was left out', () => {
  const stored = (role: 'user' | 'assistant', text: string): StoredMessage => ({
    id: text, role, text, created: '2026-11-21T10:00:00.000+00:00', mode: null, kind: null, selected_text: '', citations: [], session_id: 's', chunk_ids: [],
    explanation: '', sentences: [], excerpts: [], closest: false, meant: '', suggestions: [], warnings: [], prepared_by: '', plain_words: [], confirmed: false, explainable: false, unfinished: false,
  });
  const turns = turnsOf([stored('assistant', 'a0'), stored('user', 'q1'), stored('assistant', 'a1'), stored('user', 'q2'), stored('user', 'q3')]);
  const summary = ({question, text, state}: Turn): string[] => [question, text, state];
  expect(turns.map(summary)).toEqual([['', 'a0', 'done'], ['q1', 'a1', 'done'], ['q2', '', 'stopped'], ['q3', '', 'stopped']]);
});

test('nothing can be asked until the stored conversation is there', async () => {
  const conversation = new Conversation(() => undefined);
  const restoring = conversation.restore(server(() => new Response('{"messages": []}')), 's');
  expect([conversation.phase, conversation.ready]).toEqual(['restoring', false]);
  await restoring;
  expect(conversation.ready).toBe(true);
});

test('a conversation that arrives after another was chosen is not shown', async () => {
  const conversation = new Conversation(() => undefined);
  const blocks = [{type: 'paragraph', children: ['So. ', {type: 'cite', n: 1}]}];
  const message = {id: 'm', explanation_blocks: blocks, role: 'user', text: 'old', created: '', citations: []};
  const slow = server(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return new Response(JSON.stringify({messages: [message]}));
  });
  const first = conversation.restore(slow, 'old');
  await conversation.restore(server(() => new Response('{"messages": []}')), 'new');
  await first;
  expect(conversation.turns).toEqual([]);
});

test('the address is what the page says, or none', () => {
  const page = 'https://school.example/book/chapter-1';
  expect(addressOf('/', page)?.href).toBe('https://school.example/');
  expect(addressOf('http://10.0.0.2:7860', page)?.href).toBe('http://10.0.0.2:7860/');
  expect(addressOf('https://a.example/lutrin?x#y', page)?.href).toBe('https://a.example/lutrin/');
  for (const missing of [undefined, null, '', '  ', 'javascript:alert(1)', 'http://', 'file:///etc']) {
    expect(addressOf(missing, page)).toBeUndefined();
  }
});
