/** Lutrin itself: a small book ingested, the real server on a free port, the tiny model where it is on this machine. */

import {execFile, spawn, type ChildProcess} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {createServer, type AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const LUTRIN = process.env['LUTRIN'] ?? join(ROOT, '.venv/bin/lutrin');
const BOOK = fileURLToPath(new URL('../fixtures', import.meta.url));
const READY_MS = 90_000;

export interface ServerOptions {
  /** Of other sites' pages that may ask. */
  origin?: string;
  corpus?: string;
  model?: string;
  /** Opens the teacher's page. */
  token?: string;
  /** Of an answer; a busy machine would give quotes one time and a sentence the next within the usual three. */
  deadline_s?: number;
  /** Of the model's explanation, which a busy machine would let each answer wait for in vain. */
  explain_s?: number;
  /** Further settings. */
  variables?: Record<string, string>;
}

export class RealServer {
  readonly address: string;
  readonly #data: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #port: number;
  #process: ChildProcess | undefined;
  /** What the running server has printed. */
  printed = '';

  private constructor(port: number, {origin = '', model, token = '', deadline_s, explain_s, variables}: ServerOptions) {
    this.#port = port;
    this.address = `http://127.0.0.1:${port}`;
    this.#data = mkdtempSync(join(tmpdir(), 'lutrin-e2e-'));
    const tiny = existsSync(join(ROOT, 'models/smollm2-135m-instruct-q4_1.gguf'));
    this.#environment = {
      ...process.env,
      LUTRIN_DATA_DIR: this.#data,
      LUTRIN_MODELS_DIR: join(ROOT, 'models'),
      LUTRIN_MODEL: model ?? (tiny ? 'tiny' : 'none'),
      LUTRIN_CORS_ORIGINS: origin,
      ...(token && {LUTRIN_ADMIN_TOKEN: token}),
      ...(deadline_s && {LUTRIN_DEADLINE_S: String(deadline_s)}),
      ...(explain_s && {LUTRIN_EXPLAIN_S: String(explain_s)}),
      ...variables,
    };
  }

  /** Ingest a book, the small one of the tests if no other is named, and serve it. */
  static async start(options: ServerOptions = {}): Promise<RealServer> {
    const server = new RealServer(await freePort(), options);
    await server.ingest(options.corpus);
    await server.up();
    return server;
  }

  /** An empty machine: nothing was read, and no password is set. */
  static async empty(corpus: string, variables: Record<string, string> = {}): Promise<RealServer> {
    const server = new RealServer(await freePort(), {model: 'none', variables: {...variables, LUTRIN_CORPUS_DIR: corpus}});
    await server.up('/health');
    return server;
  }

  /** Read the books, also while the server runs. */
  async ingest(corpus = BOOK): Promise<void> {
    await promisify(execFile)(LUTRIN, ['ingest', corpus], {env: this.#environment}); // rejects with what it printed
  }

  /** @param answering What answers once it is up; without a book it is not ready. */
  async up(answering = '/ready'): Promise<void> {
    this.printed = '';
    this.#process = spawn(LUTRIN, ['serve', '--port', String(this.#port)], {env: this.#environment, stdio: ['ignore', 'pipe', 'ignore']});
    this.#process.stdout?.on('data', (text) => (this.printed += String(text)));
    const until_ms = Date.now() + READY_MS;
    while (Date.now() < until_ms) {
      try {
        if ((await fetch(this.address + answering)).ok) return;
      } catch {
        // Not listening yet.
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new Error('lutrin serve did not become ready');
  }

  /** Ends the server; conversations stay on the disk. */
  async down(): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }

  async remove(): Promise<void> {
    await this.down();
    rmSync(this.#data, {recursive: true, force: true});
  }
}

/** A port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const {port} = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
