/** One scripted server and one browser for a file of tests; a fresh browser profile for each reader. */

import type {Browser, BrowserContextOptions} from 'playwright-core';
import {afterAll, afterEach, beforeAll, beforeEach, expect} from 'vitest';
import {classroom} from './answers.ts';
import {launch, Reader} from './browser.ts';
import {ScriptedServer} from './scripted-server.ts';

export const NODES = '/read/lab/part-1/01-nodes';

export interface Harness {
  server: ScriptedServer;
  base: () => string;
  /** A reader who has just come to a page. */
  reader: (path?: string, options?: BrowserContextOptions) => Promise<Reader>;
}

/** Call once, at the top of a file; after each test nothing may have broken the policy or left the origin. */
export function harness(): Harness {
  const server = new ScriptedServer();
  const readers: Reader[] = [];
  let browser: Browser;
  let base = '';
  beforeAll(async () => {
    base = await server.listen();
    browser = await launch();
  });
  beforeEach(() => {
    server.reset();
    server.script = classroom;
  });
  afterEach(() => closed(readers));
  afterAll(async () => {
    await browser.close();
    await server.close();
  });
  return {
    server,
    base: () => base,
    reader: async (path = NODES, options = {}) => {
      const reader = await Reader.at(browser, base, path, options);
      readers.push(reader);
      return reader;
    },
  };
}

/** Close the readers of a test and forget them: none may have broken the policy or left the origin. */
export async function closed(readers: Reader[]): Promise<void> {
  const all = readers.splice(0);
  await Promise.all(all.map((reader) => reader.close()));
  for (const {violations, foreign} of all) expect({violations, foreign}).toEqual({violations: [], foreign: []});
}

/** Wait until a value is what it should be. */
export async function eventually<T>(read: () => T | Promise<T>, wanted: T, within_ms = 4000): Promise<void> {
  await expect.poll(read, {timeout: within_ms, interval: 30}).toEqual(wanted);
}
