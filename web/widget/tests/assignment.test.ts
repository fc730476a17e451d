import {describe, expect, it} from 'vitest';
import {AssignmentRecord, assignmentOf, deliver, markRead, namesIn, shuffled} from '../src/assignment/record.ts';
import type {Store} from '../src/identity.ts';

function memory(): Store {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
}

const ABOUT = {title: 'Sensors', pages: ['/read/b/one'], hints: 'first'};

describe('an assignment in a browser', () => {
  it('sends what the server did not hear of again, under the same receipt', async () => {
    const store = memory();
    const record = new AssignmentRecord(store, 'abc', ABOUT);
    record.finish('c1', 'right', {card: 'c1', known: true});
    const receipts: string[] = [];
    const results: number[] = [];
    const statuses = [0, 503, 204, 204];
    const send = async (parcel: {receipt: string; results: unknown[]}): Promise<number> => {
      receipts.push(parcel.receipt);
      results.push(parcel.results.length);
      const status = statuses.shift() ?? 204;
      if (!status) throw new TypeError('away');
      return status;
    };
    expect(await deliver(store, 'abc', send)).toBe('later');
    record.finish('c2', 'wrong', {card: 'c2', known: false});
    expect(await deliver(store, 'abc', send)).toBe('later');
    expect(await deliver(store, 'abc', send)).toBe('all');
    expect(new Set(receipts.slice(0, 3)).size).toBe(1);
    expect(receipts[3]).not.toBe(receipts[0]);
    expect(results).toEqual([1, 1, 1, 1]);
    expect(await deliver(store, 'abc', async () => expect.fail('nothing is left'))).toBe('all');
  });

  it('counts the first time of a card, and its end once', async () => {
    const store = memory();
    const record = new AssignmentRecord(store, 'abc', ABOUT);
    const parcels: {opened: boolean; finished: boolean; results: unknown[]}[] = [];
    const send = async (parcel: (typeof parcels)[number]): Promise<number> => parcels.push(parcel) && 204;
    record.finish('c1', 'wrong', {card: 'c1', known: false});
    record.finish('c1', 'right', {card: 'c1', known: true});
    record.end();
    await deliver(store, 'abc', send);
    record.end();
    await deliver(store, 'abc', send);
    expect(parcels.map(({opened, finished}) => [opened, finished])).toEqual([[true, true]]);
    expect(parcels[0]?.results).toEqual([{card: 'c1', known: false}]);
  });

  it('is forgotten once the teacher has put it away', async () => {
    const store = memory();
    new AssignmentRecord(store, 'abc', ABOUT);
    expect(await deliver(store, 'abc', async () => 404)).toBe('over');
    expect(namesIn(store)).toEqual([]);
    expect(store.getItem('lutrin:assignment:abc')).toBeNull();
  });

  it('is found on the pages that it asks to be read, until it is finished', () => {
    const store = memory();
    const record = new AssignmentRecord(store, 'abc', ABOUT);
    expect(assignmentOf(store, '/read/b/one')).toMatchObject({name: 'abc', hints: 'first', isRead: false});
    expect(assignmentOf(store, '/read/b/two')).toBeUndefined();
    markRead(store, 'abc', '/read/b/one');
    expect(new AssignmentRecord(store, 'abc', ABOUT).doneAs('/read/b/one')).toBe('read');
    expect(assignmentOf(store, '/read/b/one')?.isRead).toBe(true);
    record.end();
    expect(assignmentOf(store, '/read/b/one')).toBeUndefined();
  });

  it('has an order of its own, the same each time', () => {
    const items = Array.from({length: 20}, (_, place) => place);
    expect(shuffled(items, 7)).toEqual(shuffled(items, 7));
    expect(shuffled(items, 7)).not.toEqual(shuffled(items, 8));
    expect(shuffled(items, 7).toSorted((one, other) => one - other)).toEqual(items);
  });
});
