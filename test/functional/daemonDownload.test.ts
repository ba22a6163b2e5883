/** A stream that one daemon publishes and another one buys, downloads, saves and plays. */
import { createHash, randomBytes } from 'node:crypto';
import { on, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS, program, startRegtest, type RegtestNode } from './support/node.js';
import { hasTerminals, shownOn, startInTerminal, type TerminalProcess } from './support/terminal.js';
import { longIt } from '../support/long.js';

const SKIPPED = ['dht', 'hash_announcer', 'upnp', 'tracker_announcer_component', 'background_downloader'];
const LENGTH = 7_000_000;

let node: RegtestNode;
let creator: TestDaemon;
let viewer: TestDaemon;
let folder: string;
let bytes: Buffer;

interface Fee {
  readonly outputs: readonly { readonly amount: string }[];
  readonly total_fee: string;
}
interface File {
  readonly streaming_url: string;
  readonly download_path: string | null;
  readonly completed: boolean;
  readonly status: string;
  readonly blobs_remaining: number;
  readonly content_fee: Fee | null;
  readonly purchase_receipt: object | null;
  readonly claim_id: string;
  readonly outpoint: string;
  readonly height: number;
  readonly metadata: { readonly title?: string };
  readonly error?: string;
}
interface Page {
  readonly items: readonly File[];
  readonly total_items: number;
}

async function paid(daemon: TestDaemon, amount: number): Promise<void> {
  await node.rpc('sendtoaddress', [await daemon.call('address_unused'), amount]);
  await node.rpc('generate', [1]);
  while (!((await daemon.call<{ available: string }>('account_balance')).available > '0.0')) await sleep(20);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-download-'));
  const hubPort = await freePort();
  const peerPort = await freePort();
  node = await startRegtest({ args: ['-hub', `-hubport=${hubPort}`] });
  await node.rpc('generate', [120]);
  const settings = { components_to_skip: SKIPPED, http_blob_servers: [], reflector_servers: [] };
  [creator, viewer] = await Promise.all([
    startDaemon({
      hubPorts: [hubPort],
      settings: { ...settings, fixed_peers: [] },
      args: [`--tcp-port=${peerPort}`, '--network-interface=127.0.0.1'],
    }),
    startDaemon({
      hubPorts: [hubPort],
      settings: {
        ...settings,
        fixed_peers: [`127.0.0.1:${peerPort}`],
        max_key_fee: { currency: 'LBC', amount: '1.0' },
      },
      args: ['--tcp-port=0', '--network-interface=127.0.0.1'],
    }),
  ]);
  await paid(creator, 5);
  await paid(viewer, 5);
  bytes = randomBytes(LENGTH);
  writeFileSync(join(folder, 'film.bin'), bytes);
  const file = { bid: '0.1', file_path: join(folder, 'film.bin'), blocking: true };
  await creator.call('publish', { ...file, name: 'film', fee_amount: '0.5', fee_currency: 'LBC' });
  await node.rpc('generate', [1]);
  await creator.call('publish', { ...file, name: 'expensive', fee_amount: '2.0', fee_currency: 'LBC' });
  await node.rpc('generate', [1]);
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await node?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

const files = (filter: object) => viewer.call<Page>('file_list', filter);

/** Calls `get` until the hub's claim index has the claim. */
async function get(uri: string, more: object = {}): Promise<File> {
  for (;;) {
    const answer = await viewer.call<File>('get', { uri, ...more });
    if (!answer.error?.includes('NOT_FOUND')) return answer;
  }
}

describe('a stream', () => {
  it('is offered with an address of the wallet to the first peer', async () => {
    const { peer_protocol_server } = await creator.call<{ peer_protocol_server: { port: number } }>('status');
    const socket = connect(peer_protocol_server.port, '127.0.0.1');
    socket.write('{"lbrycrd_address": true}');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    const { lbrycrd_address: address } = JSON.parse(answer.toString()) as { lbrycrd_address: string };
    expect(await creator.call('address_is_mine', { address })).toBe(true);
  });

  it('above the price limit is not bought', async () => {
    const { error } = await get('expensive');
    expect(error).toContain('Purchase price of 2.0 LBC exceeds maximum configured price of 1.0 LBC.');
    expect((await files({ claim_name: 'expensive' })).total_items).toBe(0);
  });

  it('is paid for once, and can be played from the middle at once', async () => {
    // Requests that differ are not joined into one.
    const [file, ...others] = (await Promise.all(
      [60, 61, 62].map((timeout) => get('film', { save_file: false, timeout })),
    )) as [File, ...File[]];
    expect(file.error).toBeUndefined();
    expect(others.map(({ content_fee }) => content_fee)).toEqual([file.content_fee, file.content_fee]);
    expect(file.content_fee).toMatchObject({
      inputs: [{ type: 'payment', amount: '5.0' }],
      outputs: [{ type: 'payment', amount: '0.5' }, { type: 'data' }, { type: 'payment' }],
      total_input: '5.0',
    });
    expect(file.content_fee!.outputs[0]).not.toHaveProperty('claim_id');
    expect(Number(file.content_fee!.total_fee)).toBeGreaterThan(0);
    expect((await files({ claim_name: 'film' })).items[0]!.content_fee).toEqual(file.content_fee);
    const [from, to] = [5_000_000, 5_000_099];
    const answer = await fetch(file.streaming_url, { headers: { range: `bytes=${from}-${to}` } });
    expect(answer.status).toBe(206);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes.subarray(from, to + 1))).toBe(true);
    await node.rpc('generate', [1]);
    // The time limit does not apply, because the descriptor is on disk.
    expect((await get('film', { save_file: false, timeout: -1 })).error).toBeUndefined();
    expect(await viewer.call('purchase_list')).toMatchObject({ total_items: 1 });
  });

  it('is saved byte for byte, and has its receipt', async () => {
    let file = await get('film', { save_file: true });
    // The wallet receives the purchase from the hub, which may be after the last blob.
    while (file.status !== 'finished' || file.purchase_receipt === null)
      [file] = (await files({ claim_name: 'film' })).items as [File];
    const saved = createHash('sha256').update(readFileSync(file.download_path!)).digest('hex');
    expect(saved).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect([file.completed, file.blobs_remaining, file.purchase_receipt !== null]).toEqual([true, 0, true]);
  });

  it('is not saved below a file, and the error says what to do', async () => {
    const download_directory = join(folder, 'film.bin', 'below');
    const text =
      'a part of its path is not a folder (ENOTDIR). Move the file in its path away and repeat the call.';
    const saving = viewer.call('file_save', { claim_name: 'film', download_directory });
    await expect(saving).rejects.toThrow(text);
  });

  it('shows the state of its claim that was resolved last', async () => {
    const one = async (): Promise<File> => (await files({ claim_name: 'film' })).items[0]!;
    const before = await one();
    /** Updates the claim, and resolves it until the hub returns the update. Returns the outpoint of the update. */
    const update = async (title: string): Promise<string> => {
      const claim_id = before.claim_id;
      const { txid } = await creator.call<{ txid: string }>('stream_update', { claim_id, title });
      await node.rpc('generate', [1]);
      for (;;) {
        const { film } = await viewer.call<{ film: { txid: string; height: number } }>('resolve', {
          urls: ['film'],
        });
        if (film.txid === txid && film.height > 0) return `${txid}:0`;
      }
    };
    await viewer.call('settings_set', { key: 'save_resolved_claims', value: false });
    await update('Not stored');
    expect((await one()).outpoint).toBe(before.outpoint);
    await viewer.call('settings_clear', { key: 'save_resolved_claims' });
    const outpoint = await update('Stored');
    expect(await one()).toMatchObject({
      outpoint,
      metadata: { title: 'Stored' },
      height: await node.rpc('getblockcount'),
    });
    // A claim of another id with the same stream does not take over the file. lbrynet returns an error.
    const { sd_hash, claim_id } = (
      await creator.call<{ items: (File & { sd_hash: string })[] }>('file_list', { claim_name: 'film' })
    ).items[0]!;
    await creator.call('stream_create', { name: 'copy', bid: '0.1', sd_hash });
    await node.rpc('generate', [1]);
    const copy = async () =>
      (await viewer.call<{ copy: { name?: string } }>('resolve', { urls: 'copy' })).copy;
    while ((await copy()).name !== 'copy') await sleep(20);
    expect(await one()).toMatchObject({ outpoint, claim_id });
  });

  it('is seeded by its downloader, and removed when it is deleted', async () => {
    const status = await viewer.call<{ blob_manager: { finished_blobs: number } }>('status');
    expect(status.blob_manager.finished_blobs).toBe(5);
    expect(await viewer.call('file_delete', { claim_name: 'film', delete_from_download_dir: true })).toBe(
      true,
    );
    expect(await viewer.call('blob_list')).toMatchObject({ total_items: 0 });
  });
});

describe('progress', () => {
  /** Reads the events of a daemon until the text occurs. */
  async function eventsUntil(daemon: TestDaemon, text: string): Promise<string> {
    const leaving = new AbortController();
    const answer = await fetch(`http://127.0.0.1:${daemon.port}/events`, { signal: leaving.signal });
    let received = '';
    const decoder = new TextDecoder();
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
      received += decoder.decode(piece, { stream: true });
      if (received.includes(text)) break;
    }
    leaving.abort();
    return received;
  }

  /** Reads events from a WebSocket until one has an outcome. */
  async function messagesUntilEnd(daemon: TestDaemon): Promise<{ event: string; data: unknown }[]> {
    const socket = new WebSocket(`ws://127.0.0.1:${daemon.port}/events`);
    const received: { event: string; data: unknown }[] = [];
    for await (const [message] of on(socket, 'message') as AsyncIterable<[Buffer]>) {
      received.push(JSON.parse(message.toString()) as { event: string; data: unknown });
      if (received.at(-1)!.event === 'ended') break;
    }
    socket.close();
    return received;
  }

  it('is reported by events and by the status, and shown on a terminal', async () => {
    const path = join(folder, 'film.bin');
    const published = eventsUntil(creator, '"outcome"');
    await creator.call('publish', { name: 'slow', bid: '0.1', file_path: path });
    expect(await published).toMatch(
      /event: ended\ndata: .*"kind":"publish".*"bytes_done":7000000.*"finished"/,
    );
    await node.rpc('generate', [1]);
    await viewer.call('settings_set', { key: 'download_bytes_per_second', value: 2_500_000 });
    const downloaded = eventsUntil(viewer, '"outcome"');
    const overSocket = messagesUntilEnd(viewer);
    let reported: { kind: string; bytes_total: number; path: string }[] = [];
    if (hasTerminals()) {
      let terminal = getInTerminal();
      while ((await terminal.exited, terminal.output().includes('NOT_FOUND'))) terminal = getInTerminal();
      const { renewed, rows } = shownOn(terminal.output());
      expect(renewed.some((line) => /^\[#+-*\] +\d+%  .* of 7\.0 MB  /.test(line))).toBe(true);
      expect(rows.some((line) => line.startsWith('Saved: '))).toBe(true);
      expect(rows.join('\n')).toContain('"sd_hash"');
    } else await get('slow', { save_file: true });
    const received = await downloaded;
    const messages = await overSocket;
    const ended = /event: ended\ndata: (.*)\n/.exec(received)![1]!;
    expect(messages.at(-1)).toEqual({ event: 'ended', data: JSON.parse(ended) as unknown });
    expect(new Set(messages.map(({ event }) => event))).toEqual(new Set(['progress', 'begun', 'ended']));
    for (const [, data] of received.matchAll(/event: progress\ndata: (.*)\n/g))
      reported = [...reported, ...(JSON.parse(data!) as { transfers: typeof reported }).transfers];
    expect(reported[0]).toMatchObject({ kind: 'download', bytes_total: expect.any(Number) as number });
    expect(received).toMatch(/event: ended\ndata: .*"claim_name":"slow".*"finished"/);
    expect(await viewer.call('status')).toMatchObject({ transfers: [] });
    await viewer.call('settings_clear', { key: 'download_bytes_per_second' });
  });

  const getInTerminal = (): TerminalProcess =>
    startInTerminal(
      [
        process.execPath,
        program('lbcnet'),
        `--api=127.0.0.1:${viewer.port}`,
        'get',
        'slow',
        '--save_file=true',
      ],
      120,
    );
});

describe('the media server', () => {
  const ask = async (path: string, method = 'GET') => {
    const [host, port] = (
      await viewer.call<{ streaming_server: string }>('settings_get')
    ).streaming_server.split(':');
    const answer = await fetch(`http://${host}:${port}/get/${path}`, { method, redirect: 'manual' });
    return { status: answer.status, text: await answer.text(), retry: answer.headers.get('retry-after') };
  };

  it('reports why a name cannot be played', async () => {
    await creator.call('publish', { name: 'lost', bid: '0.1', file_path: join(folder, 'film.bin') });
    await creator.call('file_delete', { claim_name: 'lost' });
    await creator.call('stream_create', { name: 'empty', bid: '0.1', title: 'No file' });
    await node.rpc('generate', [1]);
    await viewer.call('settings_set', { key: 'download_timeout', value: 1 });
    expect(await ask('nowhere')).toMatchObject({ status: 404, retry: null });
    expect(await ask('@channel')).toMatchObject({ status: 400 });
    expect(await ask('expensive')).toMatchObject({ status: 402, retry: null });
    for (const [name, status, words] of [
      ['empty', 404, 'There is nothing to download'],
      ['lost', 504, 'Failed to download sd blob'],
    ] as const) {
      let answer = await ask(name);
      while (answer.text.includes('NOT_FOUND')) answer = await ask(name);
      expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words) as string]);
    }
    expect((await ask('lost', 'HEAD')).status).toBe(302);
    // A client that follows the redirect gets the size and type that the claim states.
    const { streaming_server: server } = await viewer.call<{ streaming_server: string }>('settings_get');
    const head = await fetch(`http://${server}/get/lost`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('content-type')]).toEqual([
      200,
      String(readFileSync(join(folder, 'film.bin')).length),
      'application/octet-stream',
    ]);
    expect((await fetch(head.url)).status).toBe(404);
    expect((await files({ claim_name: 'lost' })).total_items).toBe(0);
  });

  longIt('distinguishes a missing hub from a missing claim', async () => {
    await node.stop();
    let answer = await ask('anything');
    // A call that was sent before the connection ended fails with 502.
    while (answer.status === 502) answer = await ask('anything');
    expect(answer).toMatchObject({ status: 503, retry: '5' });
    expect(answer.text).toContain('no hub is connected');
    expect(await viewer.call<File>('get', { uri: 'anything' })).toEqual({
      error: "Failed to resolve 'anything' within the timeout.",
    });
  });
});
