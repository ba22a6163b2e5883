import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Subscriber } from 'zeromq';
import type { MempoolEntry } from '../../../src/mempool/mempoolReader.js';
import { TX_STRIDE } from '../../../src/primitives/blockLayout.js';
import type { BlockNotice } from '../../../src/server/notifications/blockNotice.js';
import {
  ZmqPublisher,
  ZmqStartError,
  type ZmqNotifierOptions,
  type ZmqType,
} from '../../../src/server/zmqPublisher.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { heldBytes } from '../../support/memory.js';
import { countTurns } from '../../support/slices.js';

let folder: string;
const closers: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zmq-'));
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
  rmSync(folder, { recursive: true });
});

const address = (name: string): string => `ipc://${folder}/${name}`;
const notifier = (type: ZmqType, name: string, highWaterMark = 1000): ZmqNotifierOptions => ({
  type,
  address: address(name),
  highWaterMark,
});

async function publish(...notifiers: ZmqNotifierOptions[]): Promise<ZmqPublisher> {
  const publisher = await ZmqPublisher.open({ notifiers, serializeWitness: true }, SILENT_LOGGER);
  closers.push(() => publisher.close());
  return publisher;
}

/** Subscribes to all topics. Messages that are sent after it resolves arrive. */
async function subscribe(publisher: ZmqPublisher, name: string): Promise<Subscriber> {
  const socket = new Subscriber({ receiveHighWaterMark: 1 });
  closers.push(() => socket.close());
  socket.connect(address(name));
  socket.subscribe();
  // The caller of a publisher is not notified of subscriptions. Messages that it sends before a subscription are lost.
  await drain(publisher, socket);
  return socket;
}

/**
 * Receives all messages that were sent so far. Returns their sequence numbers and the next one. Numbered marks show the end. They
 * may be dropped, so they are sent repeatedly, at growing intervals, until the last one arrives.
 */
async function drain(publisher: ZmqPublisher, socket: Subscriber): Promise<{ got: number[]; next: number }> {
  const got: number[] = [];
  let marks = 0;
  let isOver = false;
  let next = 0;
  const read = async (): Promise<void> => {
    while (!isOver) {
      const [, body, sequence] = await socket.receive();
      const number = sequence!.readUInt32LE();
      const [, mark] = /^mark (\d+)$/.exec(body!.toString('latin1', 0, 20)) ?? [];
      if (mark === undefined) got.push(number);
      if (Number(mark) !== marks) continue;
      next = number - marks + 1;
      isOver = true;
    }
  };
  const reading = read();
  for (let pauseMs = 4; !isOver; pauseMs *= 2) {
    publisher.transactionAdded(entryOf(id(0)), Buffer.from(`mark ${++marks}`));
    await Promise.race([reading, sleep(pauseMs)]);
  }
  return { got, next };
}

const entryOf = (txid: Buffer): MempoolEntry => ({ txid }) as unknown as MempoolEntry;
const id = (number: number): Buffer => {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32BE(number);
  return bytes;
};
const reversed = (bytes: Buffer): Buffer => Buffer.from(bytes).reverse();

function emptyBlock(blockId: number, claims: readonly string[] = []): BlockNotice {
  return {
    id: blockId,
    hash: id(blockId),
    raw: Buffer.from(`block ${blockId}`),
    isConnected: true,
    claims: claims.map((json) => ({ json })),
    *transactions() {},
  } as unknown as BlockNotice;
}
const tip = (blockId: number, forkId = 0, initialDownload = false) => ({
  id: blockId,
  height: blockId,
  hash: id(blockId),
  forkId,
  initialDownload,
});

describe('the publisher', () => {
  it('sends topic, body and sequence, a sequence for each notifier on a shared socket', async () => {
    const types: ZmqType[] = ['pubhashblock', 'pubhashtx', 'pubrawblock', 'pubrawtx', 'pubclaim'];
    const publisher = await publish(...types.map((type) => notifier(type, 'all')));
    expect(publisher.active()).toEqual(types.map((type) => ({ type, address: address('all') })));
    const socket = await subscribe(publisher, 'all');

    publisher.transactionAdded(entryOf(id(1)), Buffer.from('transaction 1'));
    publisher.blockChanged(emptyBlock(7, ['{"event":"claim"}']));
    publisher.tipChanged(tip(7));
    publisher.transactionAdded(entryOf(id(2)), Buffer.from('transaction 2'));
    // The node publishes nothing during the download of the chain, or if blocks were only disconnected.
    publisher.blockChanged(emptyBlock(8));
    publisher.tipChanged(tip(8, 0, true));
    publisher.tipChanged(tip(6, 6));
    publisher.blockChanged(emptyBlock(9));
    publisher.tipChanged(tip(9));

    const got: [string, string, number][] = [];
    while (got.length < 9) {
      const [topic, body, sequence] = await socket.receive();
      expect(sequence).toHaveLength(4);
      got.push([topic!.toString(), body!.toString('latin1'), sequence!.readUInt32LE()]);
    }
    const start = got[0]![2];
    const shown = (number: number): string => reversed(id(number)).toString('latin1');
    expect(got).toEqual([
      ['hashtx', shown(1), start],
      ['rawtx', 'transaction 1', start],
      ['claim', '{"event":"claim"}', 0],
      ['hashblock', shown(7), 0],
      ['rawblock', 'block 7', 0],
      ['hashtx', shown(2), start + 1],
      ['rawtx', 'transaction 2', start + 1],
      ['hashblock', shown(9), 1],
      ['rawblock', 'block 9', 1],
    ]);
  });

  it('sends a large block in slices, and later messages after it', async () => {
    const publisher = await publish(notifier('pubhashtx', 'large', 0), notifier('pubrawtx', 'large', 0));
    const socket = await subscribe(publisher, 'large');
    const count = 20_000;
    const txids = Buffer.concat(Array.from({ length: count }, (_, n) => id(n)));
    const bytes = Buffer.from('transaction');
    const txs = new Int32Array(count * TX_STRIDE);
    for (let tx = 0; tx < count; tx++) txs.set([0, bytes.length], tx * TX_STRIDE);
    // A slice ends after about a hundred transactions.
    const { turns } = await countTurns(() => {
      publisher.blockChanged({
        ...emptyBlock(1),
        raw: bytes,
        parsed: { txids, txs, txCount: count },
        *transactions() {
          for (let tx = 0; tx < count; tx++) yield tx;
        },
      } as unknown as BlockNotice);
      publisher.transactionAdded(entryOf(id(count)), Buffer.from('the last'));
      return publisher.settled();
    }, 0.1);
    expect(turns).toBeGreaterThan(100);
    for (let tx = 0; tx <= count; tx++) {
      const [[topic, hash], [, raw]] = [await socket.receive(), await socket.receive()];
      if (topic!.toString() !== 'hashtx' || !hash!.equals(reversed(id(tx))))
        throw new Error(`wrong at ${tx}`);
      if (tx === count) expect(raw!.toString()).toBe('the last');
    }
    await publisher.settled();
  });

  it('publishes at several addresses', async () => {
    const publisher = await publish(notifier('pubrawtx', 'one'), notifier('pubrawtx', 'two'));
    const [one, two] = [await subscribe(publisher, 'one'), await subscribe(publisher, 'two')];
    publisher.transactionAdded(entryOf(id(5)), id(5));
    const bodies: Buffer[] = [];
    for (const socket of [one, two]) {
      for (;;) {
        const [, body] = await socket.receive();
        bodies.push(body!);
        if (body!.equals(id(5))) break;
      }
    }
    expect(bodies.filter((body) => body.equals(id(5)))).toHaveLength(2);
  });

  it('drops messages above the limit of a subscriber that does not read, and shows it in the sequence', async () => {
    const publisher = await publish(notifier('pubrawtx', 'slow', 10));
    const socket = await subscribe(publisher, 'slow');
    const sent = 2000;
    const size = 100_000;
    const before = await heldBytes();
    for (let n = 0; n < sent; n++) {
      publisher.transactionAdded(entryOf(id(n)), Buffer.alloc(size, n));
      // Memory of messages that were sent or dropped is freed between iterations of the event loop.
      if (n % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    // Of 200 MB, only the high water mark and the buffers of the two ends of the connection remain in memory.
    expect((await heldBytes()) - before).toBeLessThan((sent * size) / 4);
    const { got: sequences, next } = await drain(publisher, socket);
    // Earlier marks that were not acknowledged count towards the high water mark too.
    expect(sequences.length).toBeGreaterThanOrEqual(5);
    expect(sequences.slice(0, 5)).toEqual([0, 1, 2, 3, 4].map((n) => sequences[0]! + n));
    expect(sequences.length).toBeLessThan(sent / 2);
    for (let i = 1; i < sequences.length; i++) expect(sequences[i]).toBeGreaterThan(sequences[i - 1]!);
    // From the sequence number of the next message, the subscriber can compute how many it missed.
    expect(next - sequences[0]!).toBe(sent);
  });

  it('refuses unusable addresses, and leaves none bound', async () => {
    const taken: Server = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    closers.push(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    for (const [bad, why] of [
      ['nonsense', /^Cannot publish at nonsense \(-zmqpubhashtx\): /],
      ['', /^Cannot publish at {2}\(-zmqpubhashtx\): /],
      ['http://127.0.0.1:1', /Protocol not supported/],
      [`tcp://127.0.0.1:${port}`, /Address already in use/],
    ] as const) {
      const opening = ZmqPublisher.open(
        {
          notifiers: [notifier('pubrawtx', 'kept'), { type: 'pubhashtx', address: bad, highWaterMark: 1 }],
          serializeWitness: true,
        },
        SILENT_LOGGER,
      );
      await expect(opening).rejects.toThrow(ZmqStartError);
      await expect(opening).rejects.toThrow(why);
    }
    await publish(notifier('pubrawtx', 'kept'));
  });
});
