import {Rating} from 'ts-fsrs';
import {expect, test} from 'vitest';
import {piecesOf} from '../src/practice/formulas.ts';
import {inWords, Schedule} from '../src/practice/schedule.ts';
import type {Store} from '../src/identity.ts';

const DAY_MS = 86_400_000;

function store(): Store {
  const values = new Map<string, string>();
  return {getItem: (key) => values.get(key) ?? null, setItem: (key, value) => void values.set(key, value), removeItem: (key) => void values.delete(key)};
}

test('formulas of a card are found between its words; prices and what is not understood stay as they are', () => {
  const [before, formula, after] = piecesOf('The term $w^2$ costs more.');
  expect([before, after]).toEqual(['The term ', ' costs more.']);
  expect(formula).toEqual({tex: 'w^2', tree: ['msup', [['mi', 'w'], ['mn', '2']]]});
  expect(piecesOf('It costs $1.50 and $2.')).toEqual(['It costs $1.50 and $2.']);
  expect(piecesOf(String.raw`Here $\unknowncommand{x}$ stands.`)).toEqual([String.raw`Here $\unknowncommand{x}$ stands.`]);
  expect(piecesOf('Gate $$i_t$$ opens')).toHaveLength(3);
});

test('new cards come in the order of the book; one that was not known comes back in the same sitting', () => {
  let now_ms = Date.UTC(2026, 10, 25, 9);
  const schedule = new Schedule(store(), 'lab', () => new Date(now_ms));
  const ids = ['a', 'b'];
  expect([schedule.next(ids), schedule.counts(ids)]).toEqual(['a', {due: 0, fresh: 2}]);
  schedule.grade('a', Rating.Again);
  expect(schedule.next(ids)).toBe('b');
  schedule.grade('b', Rating.Easy);
  expect(schedule.next(ids)).toBe('a');
  now_ms += 2 * 60_000;
  expect(schedule.counts(ids)).toEqual({due: 1, fresh: 0});
  schedule.grade('a', Rating.Easy);
  expect(schedule.next(ids)).toBeUndefined();
  expect(schedule.nextDue(ids)?.getTime()).toBeGreaterThan(now_ms + DAY_MS / 2);
});

test('what is known well comes later each time, what is forgotten soon; another visit goes on from there', () => {
  let now_ms = Date.UTC(2026, 10, 25, 9);
  const kept = store();
  const open = (): Schedule => new Schedule(kept, 'lab', () => new Date(now_ms));
  const waits: number[] = [];
  for (let visit = 0; visit < 4; visit += 1) {
    waits.push(open().waits_s('a').get(Rating.Easy) ?? 0);
    open().grade('a', Rating.Easy);
    now_ms = (open().nextDue(['a'])?.getTime() ?? 0) + 1000;
    expect(open().next(['a'])).toBe('a');
  }
  expect(waits).toEqual([...waits].sort((one, other) => one - other));
  expect(new Set(waits).size).toBe(4);
  expect((waits[3] ?? 0) * 1000).toBeGreaterThan(20 * DAY_MS);
  const again_s = open().waits_s('a').get(Rating.Again) ?? Infinity;
  expect(again_s).toBeLessThan(3600);
  expect(new Schedule(kept, 'another', () => new Date(now_ms)).counts(['a'])).toEqual({due: 0, fresh: 1});
});

test('times are said in words', () => {
  expect([20, 600, 3599, 7200, 86_390, 86_400, 5 * 86_400, 90 * 86_400].map(inWords)).toEqual(['1 min', '10 min', '1 h', '2 h', '1 day', '1 day', '5 days', '3 months']);
});
