import {expect, test} from 'vitest';
import {Identity, randomId, storeOf} from '../src/identity.ts';
import {citationUrl, samePage} from '../src/landing.ts';
import {lettersOnly, locate} from '../src/passage.ts';
import type {Citation} from '../src/wire.ts';

const CITATION = {
  url: '/read/lab/01-nodes#what-a-node-is',
  quote: 'A **node** is a process that does one job, and does it well.',
  blocks: [{type: 'paragraph', children: ['A ', {type: 'strong', children: ['node']}, ' is a process that does one job, and does it well.']}],
} as Citation;

test('a citation leads into the reader of the server that answered, wherever that is mounted', () => {
  const page = 'https://school.example/page';
  expect(citationUrl(CITATION, new URL('https://school.example/'), page).href).toBe('https://school.example/read/lab/01-nodes#what-a-node-is');
  expect(citationUrl(CITATION, new URL('https://school.example/tutor/'), page).href).toBe('https://school.example/tutor/read/lab/01-nodes#what-a-node-is');
});

test('on another origin the address itself carries the passage, without its markup', () => {
  const {hash} = citationUrl(CITATION, new URL('http://10.0.0.2:7860/'), 'https://school.example/');
  expect(hash).toBe('#what-a-node-is:~:text=A%20node%20is%20a,and%20does%20it%20well.');
});

test('pages are the same whatever their fragment, suffix or trailing slash', () => {
  const page = new URL('https://a.example/docs/x/');
  for (const same of ['/docs/x', '/docs/x.html#b', '/docs/x/index.html']) expect(samePage(new URL(same, page), page)).toBe(true);
  for (const other of ['/docs/y', '/docs/x?v=2', 'https://b.example/docs/x']) expect(samePage(new URL(other, page), page)).toBe(false);
});

test('a passage is found by its letters, behind its heading first', () => {
  const page = lettersOnly('A node is a process. Then a topic. A node is a process!');
  const wanted = lettersOnly('a *node* is  “a process”');
  const [early] = locate(page, wanted, 0);
  const [late, end] = locate(page, wanted, 5);
  expect([early, page.slice(late, end), late > early]).toEqual([0, wanted, true]);
});

test('a passage whose middle is drawn differently is found by its two ends', () => {
  const page = lettersOnly('Start the controller with the gain that you measured: τ = 0.5 s, then tune the derivative part slowly.');
  const wanted = lettersOnly('Start the controller with the gain that you measured: \\tau_{c} = 0.5, then tune the derivative part slowly.');
  expect(locate(page, wanted, 0)).toEqual([0, page.length]);
});

test('a passage that is not there is not marked', () => {
  expect(locate('abcdefgh', 'xyz', 0)).toEqual([0, 0]);
});

test('identifiers hold 128 random bits, also on pages over plain HTTP, where randomUUID is missing', () => {
  const insecure = {getRandomValues: crypto.getRandomValues.bind(crypto)};
  const ids = new Set(Array.from({length: 100}, () => randomId(insecure)));
  expect(ids.size).toBe(100);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
});

test('a browser keeps its session and its secret; one that blocks storage has them as long as the page lasts', () => {
  const blocked = storeOf(() => {
    throw new DOMException('denied', 'SecurityError');
  });
  const first = new Identity(blocked);
  const again = new Identity(blocked);
  expect([first.known, again.known]).toEqual([false, true]);
  expect([again.session, again.secret]).toEqual([first.session, first.secret]);
  expect(first.secret.length).toBeGreaterThanOrEqual(64);
  again.startNew();
  expect(first.session).toBe(again.session);
});
