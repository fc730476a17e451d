/** Questions that were made for real books, asked of Lutrin itself: the reader sees words, not what authors type for tools. */

import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, expect, test} from 'vitest';
import type {Answer} from '../../widget/src/wire.ts';
import {RealServer} from '../support/real-server.ts';
import {rawMarkup} from '../support/shown.ts';

const BENCH = fileURLToPath(new URL('../../../bench', import.meta.url));
/** Two books with many tables, boxes and formulas. */
const BOOKS = ['water', 'vision'];
const ANSWERS = 100;
let lutrin: RealServer;

beforeAll(async () => {
  const variables = {LUTRIN_RATE_SESSION_PER_MIN: '0', LUTRIN_RATE_PEER_PER_MIN: '0'};
  lutrin = await RealServer.start({corpus: `${BENCH}/books/eighth/${BOOKS[0]}`, model: 'none', variables});
  for (const book of BOOKS.slice(1)) await lutrin.ingest(`${BENCH}/books/eighth/${book}`);
}, 600_000);

afterAll(() => lutrin.remove());

test('no answer shows raw markup', async () => {
  let answers = 0;
  const raw: Record<string, string[]> = {};
  for (const book of BOOKS) {
    for (const line of readFileSync(`${BENCH}/questions/eighth/${book}.jsonl`, 'utf8').trim().split('\n')) {
      const {question} = JSON.parse(line) as {question: string};
      const answer = await ask(question, book);
      if (answer.kind !== 'refusal') answers += 1;
      const signs = rawMarkup(answer);
      if (signs.length) raw[question] = signs;
    }
  }
  expect(raw).toEqual({});
  expect(answers).toBeGreaterThan(ANSWERS);
}, 300_000);

async function ask(query: string, book: string): Promise<Answer> {
  const response = await fetch(`${lutrin.address}/api/query?blocks=true`, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({query, book}),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}
