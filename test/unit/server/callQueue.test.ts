/** Order of calls: the share of callers without a password, the order within a connection, and the log lines. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallQueue } from '../../../src/server/callQueue.js';
import { HttpConnection } from '../../../src/server/connections.js';
import type { HttpReply } from '../../../src/server/replyStream.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';

const DEPTH = 8;
async function* noChunks(): AsyncGenerator<string> {}
const REPLY: HttpReply = { status: 200, contentType: 'text/plain', text: 'done', chunks: noChunks() };

class FakeResponse extends EventEmitter {
  status = 0;
  destroyed = false;
  writableEnded = false;
  get writableFinished(): boolean {
    return this.writableEnded;
  }
  writeHead(status: number): this {
    this.status = status;
    return this;
  }
  write(): boolean {
    return true;
  }
  setHeader(): void {}
  removeHeader(): void {}
  end(): void {
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
  }
}

let warnings: string[];
let turns: CallQueue;
beforeEach(() => {
  warnings = [];
  const logger = { ...SILENT_LOGGER, warn: (text: string) => warnings.push(text) };
  turns = new CallQueue(
    { threads: 1, depth: DEPTH, stallMs: 1000 },
    logger as unknown as typeof SILENT_LOGGER,
  );
});

const connect = (): HttpConnection =>
  new HttpConnection(
    Object.assign(new EventEmitter(), { destroyed: false }) as unknown as Socket,
    () => true,
    0,
  );

/** Sends this number of calls, by default each over its own connection. */
function send(
  count: number,
  kind: 'serve' | 'serveOpen',
  run: () => HttpReply | Promise<HttpReply>,
  over?: HttpConnection,
): FakeResponse[] {
  return Array.from({ length: count }, () => {
    const response = new FakeResponse();
    turns[kind](over ?? connect(), response as unknown as ServerResponse, run);
    return response;
  });
}

/** Occupies the only slot. Returns a function that releases it. */
function hold(): () => void {
  let letGo: () => void = () => undefined;
  const held = new Promise<HttpReply>((resolve) => (letGo = () => resolve(REPLY)));
  send(1, 'serve', () => held);
  return letGo;
}

const statuses = (responses: FakeResponse[]): number[] => responses.map(({ status }) => status);
const ended = (responses: FakeResponse[]): Promise<void> =>
  vi.waitFor(() => expect(responses.every(({ writableEnded }) => writableEnded)).toBe(true), {
    timeout: 10_000,
  });

describe('calls without a password', () => {
  it('use half the depth of the queue, and no places of calls with one', async () => {
    const letGo = hold();
    const open = send(100, 'serveOpen', () => REPLY);
    expect(turns.load()).toMatchObject({ queued: DEPTH / 2, refused: 100 - DEPTH / 2 });
    const calls = send(DEPTH + 1, 'serve', () => REPLY);
    expect(statuses(calls)).toEqual([...Array<number>(DEPTH).fill(0), 503]);
    letGo();
    await ended([...open, ...calls]);
    expect(statuses(calls)).toEqual([...Array<number>(DEPTH).fill(200), 503]);
    expect(statuses(open)).toEqual(open.map((_, i) => (i < DEPTH / 2 ? 200 : 503)));
    const again = hold();
    expect(statuses(send(DEPTH / 2 + 1, 'serveOpen', () => REPLY))).toEqual([0, 0, 0, 0, 503]);
    again();
  });

  it('are served one after the other over one connection, with sixteen more waiting', async () => {
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const connection = connect();
    const letGo = hold();
    const responses = Array.from({ length: 20 }, (_, i) => {
      const run = async (): Promise<HttpReply> => {
        order.push(i);
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        return REPLY;
      };
      return send(1, 'serveOpen', run, connection)[0]!;
    });
    expect(turns.load().queued).toBe(1);
    letGo();
    await ended(responses);
    expect(statuses(responses)).toEqual([...Array<number>(17).fill(200), 503, 503, 503]);
    expect([order, most]).toEqual([Array.from({ length: 17 }, (_, i) => i), 1]);
  });
});

describe('refusals', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const WHY = 'because http work queue depth exceeded, it can be increased with the -rpcworkqueue= setting';

  it('are reported at once and then in sums, however many there are', () => {
    hold();
    send(DEPTH / 2 + 1000, 'serveOpen', () => REPLY);
    expect(warnings).toEqual([`request rejected ${WHY}`]);
    vi.advanceTimersByTime(10_000);
    expect(warnings.splice(0)).toEqual([`request rejected ${WHY}`, `999 more requests rejected ${WHY}`]);
    vi.advanceTimersByTime(10_000);
    expect([warnings, vi.getTimerCount()]).toEqual([[], 0]);
    send(3, 'serveOpen', () => REPLY);
    expect(warnings).toEqual([`request rejected ${WHY}`]);
    turns.stop();
    expect(warnings.splice(0)).toEqual([`request rejected ${WHY}`, `2 more requests rejected ${WHY}`]);
    expect([turns.load().refused, vi.getTimerCount()]).toEqual([1003, 0]);
  });
});
