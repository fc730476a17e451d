/** Lutrin's own parser of texts, as a process beside a test. */

import {spawn, type ChildProcessByStdio} from 'node:child_process';
import {dirname, join} from 'node:path';
import {createInterface, type Interface} from 'node:readline';
import type {Readable, Writable} from 'node:stream';
import {fileURLToPath} from 'node:url';
import type {AnswerEvent, StoredMessage} from '../../widget/src/wire.ts';
import {LUTRIN} from './real-server.ts';

const SCRIPT = fileURLToPath(new URL('../../../tests/browser/parse_texts.py', import.meta.url));

export class TextParser {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;
  readonly #waiting: {resolve: (line: string) => void; reject: (error: Error) => void}[] = [];

  constructor() {
    this.#child = spawn(join(dirname(LUTRIN), 'python'), [SCRIPT], {stdio: ['pipe', 'pipe', 'inherit']});
    this.#lines = createInterface(this.#child.stdout).on('line', (line) => this.#waiting.shift()?.resolve(line));
    this.#child.on('exit', () => this.#waiting.splice(0).forEach(({reject}) => reject(new Error('the parser has ended'))));
  }

  /** An event with what its texts consist of. */
  event(event: AnswerEvent): Promise<AnswerEvent> {
    return this.#ask({event});
  }

  /** A stored message with what its texts consist of. */
  message(message: StoredMessage): Promise<StoredMessage> {
    return this.#ask({message});
  }

  close(): void {
    this.#lines.close();
    this.#child.kill();
  }

  async #ask<T>(given: object): Promise<T> {
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting.push({resolve, reject});
      this.#child.stdin.write(`${JSON.stringify(given)}\n`);
    });
    return JSON.parse(line) as T;
  }
}
