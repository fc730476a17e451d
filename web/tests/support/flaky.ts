/** A connection to the server that can break: bytes go through as they are, until a test says otherwise. */

import {connect, createServer, type AddressInfo, type Server, type Socket} from 'node:net';

export class FlakyWire {
  /** Break the next answer that streams after so many bytes of it. */
  cutStreamAfter_bytes: number | undefined;
  /** Nobody comes through. */
  down = false;
  cuts = 0;
  readonly #port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  /** @param server Address of the server at the other end. */
  constructor(server: string) {
    this.#port = Number(new URL(server).port);
    this.#server = createServer((client) => this.#join(client));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    if (this.down) return void client.destroy();
    const server = connect(this.#port, '127.0.0.1');
    let streamed = -1;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
    }
    client.on('close', () => server.destroy());
    server.on('close', () => client.destroy());
    client.on('data', (data) => (this.down ? client.destroy() : void server.write(data)));
    server.on('data', (data) => {
      if (this.cutStreamAfter_bytes !== undefined) {
        if (streamed < 0 && data.includes('text/event-stream')) streamed = 0;
        if (streamed >= 0) streamed += data.length;
        if (streamed > this.cutStreamAfter_bytes) {
          client.write(data.subarray(0, Math.max(0, data.length - (streamed - this.cutStreamAfter_bytes))), () => client.destroy());
          this.cutStreamAfter_bytes = undefined;
          this.cuts += 1;
          server.destroy();
          return;
        }
      }
      client.write(data);
    });
  }
}
