import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { CrossingErrors } from '../../../src/threads/crossingErrors.js';
import { Transferred } from '../../../src/threads/protocol.js';
import { SyncCaller, serveSyncCalls } from '../../../src/threads/syncCalls.js';
import { ThreadLink, type LinkItem } from '../../../src/threads/threadLink.js';

class KnownError extends Error {}

const ERRORS = new CrossingErrors([
  { kind: 'known', type: KnownError, restore: (message) => new KnownError(message) },
]);

interface Numbers {
  double(n: number): Promise<number>;
  bytes(length: number): Transferred<Uint8Array>;
  fail(): never;
  never(): Promise<void>;
}
type Note = readonly ['note', text: string];
type Count = readonly ['count', number];

describe('a link between threads', () => {
  const channels: MessageChannel[] = [];
  afterEach(() => {
    for (const { port1, port2 } of channels.splice(0)) {
      port1.close();
      port2.close();
    }
  });

  /** Two ends of a link. Both can be called, and each sends its own items. */
  function pair() {
    const channel = new MessageChannel();
    channels.push(channel);
    const notes: string[] = [];
    const counts: number[] = [];
    let sent = 0;
    const client = new ThreadLink<{ name(): string }, Numbers, Note, Count>({
      port: channel.port1,
      methods: { name: () => 'client' },
      errors: ERRORS,
      take: ([, count]) => counts.push(count),
    });
    const server = new ThreadLink<Numbers, { name(): string }, Count, Note>({
      port: channel.port2,
      methods: {
        double: async (n) => 2 * n,
        bytes: (length) => {
          const bytes = new Uint8Array(length).fill(7);
          return new Transferred(bytes, [bytes.buffer]);
        },
        fail() {
          throw new KnownError('failed');
        },
        never: () => new Promise(() => undefined),
      },
      errors: ERRORS,
      take: ([, text]) => notes.push(text),
      first: () => ['count', sent++],
    });
    channel.port1.on('message', (items: LinkItem<Count>[]) => client.receive(items));
    channel.port2.on('message', (items: LinkItem<Note>[]) => server.receive(items));
    return { client, server, notes, counts };
  }

  it('transfers calls in both directions, and other messages in order with them', async () => {
    const { client, server, notes, counts } = pair();
    client.send(['note', 'before']);
    expect(await client.call('double', 21)).toBe(42);
    expect(notes).toEqual(['before']);
    // Only the first item of each message is processed before the answer.
    expect(counts).toEqual([0]);
    expect(await server.call('name')).toBe('client');
    expect(counts).toEqual([0, 1]);
    expect(await client.call('bytes', 3)).toEqual(Uint8Array.of(7, 7, 7));
  });

  it('keeps the class of errors, and continues afterwards', async () => {
    const { client } = pair();
    await expect(client.call('fail')).rejects.toBeInstanceOf(KnownError);
    expect(await client.call('double', 1)).toBe(2);
  });

  it('ends its calls with one error, and sends nothing afterwards', async () => {
    const { client, server, notes } = pair();
    const waiting = client.call('never');
    client.end(new Error('over'));
    client.end(new Error('a later reason'));
    await expect(waiting).rejects.toThrow('over');
    await expect(client.call('double', 1)).rejects.toThrow('over');
    client.send(['note', 'lost']);
    client.receive([['call', 0, 'name', []]]);
    server.send(['count', 9]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(notes).toEqual([]);
  });
});

describe('calls that block their thread', () => {
  const methods = {
    add: (a: number, b: number): number => a + b,
    fail(): never {
      throw new KnownError('failed');
    },
  };

  it('return values and errors of a thread that serves them', async () => {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(4));
    serveSyncCalls({ port: port1, signal }, methods, ERRORS);
    // The other thread has no loader of TypeScript: it calls with the items of the protocol.
    const worker = new Worker(
      `const { workerData: { port, signal }, parentPort, receiveMessageOnPort } = require('node:worker_threads');
      const call = (id, name, args) => {
        Atomics.store(signal, 0, 0);
        port.postMessage([['call', id, name, args]]);
        Atomics.wait(signal, 0, 0, 60000);
        return receiveMessageOnPort(port).message[0];
      };
      parentPort.postMessage([call(0, 'add', [2, 3]), call(1, 'fail', [])]);`,
      { eval: true, workerData: { port: port2, signal }, transferList: [port2] },
    );
    const answers = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    expect(answers).toEqual([
      ['value', 0, undefined, 5],
      ['error', 1, undefined, { kind: 'known', message: 'failed' }],
    ]);
    await worker.terminate();
    port1.close();
  });

  it('skip answers of earlier calls', () => {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(4));
    const caller = new SyncCaller<typeof methods>({ port: port2, signal }, ERRORS);
    // Answers that wait already end the call before it blocks: `Atomics.wait` returns for a cell that is not 0.
    const answered = (...items: unknown[]): void => {
      for (const item of items) port1.postMessage([item]);
    };
    answered(['value', 7, undefined, 'late'], ['value', 0, undefined, 5]);
    const wait = Atomics.wait;
    try {
      Atomics.wait = (() => 'ok') as typeof Atomics.wait;
      expect(caller.call('add', 2, 3)).toBe(5);
      answered(['error', 1, undefined, ERRORS.cross(new KnownError('failed'))]);
      expect(() => caller.call('fail')).toThrow(KnownError);
    } finally {
      Atomics.wait = wait;
    }
    caller.close();
    port1.close();
  });
});
