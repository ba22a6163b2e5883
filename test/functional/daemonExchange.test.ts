/** Blobs between two daemons: one has them, the other one downloads them and uploads them to a reflector. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blobHashOf } from '../../src/daemon/content/blobHash.js';
import { makeStream } from '../../src/daemon/blobs/makeStream.js';
import { ContentFolder } from '../support/contentFolder.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS } from './support/node.js';

const SKIPPED = [
  'wallet',
  'dht',
  'hash_announcer',
  'upnp',
  'tracker_announcer_component',
  'background_downloader',
];

let seeder: TestDaemon;
let leecher: TestDaemon;
let folder: string;
let peerPort: number;
let content: ContentFolder;
let sdHash: string;
let streamHashes: string[];
const blobs = new Map<string, Buffer>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-seeder-'));
  const blobFolder = join(folder, 'data', 'blobfiles');
  mkdirSync(blobFolder, { recursive: true });
  for (const size of [16, 1_000_000, 2_097_152]) {
    const bytes = randomBytes(size);
    blobs.set(blobHashOf(bytes), bytes);
  }
  const text = Buffer.from('{"text": "plain"}');
  blobs.set(blobHashOf(text), text);
  for (const [hash, bytes] of blobs) writeFileSync(join(blobFolder, hash), bytes);
  peerPort = await freePort();
  content = new ContentFolder();
  await content.open();
  const film = join(folder, 'film');
  writeFileSync(film, randomBytes(3_000_000));
  ({ sdHash } = await makeStream(film, content.making));
  streamHashes = [...content.store.finished];
  await content.close();
  await content.threads.close();
  [seeder, leecher] = await Promise.all([
    startDaemon({
      hubPorts: [],
      folder,
      settings: { components_to_skip: SKIPPED, fixed_peers: [], http_blob_servers: [] },
      args: [
        `--tcp-port=${peerPort}`,
        '--reflector',
        '--network-interface=127.0.0.1',
        ...['', '-peer', '-http'].map((kind) => `--reflector${kind}-port=0`),
      ],
    }),
    startDaemon({
      hubPorts: [],
      settings: {
        components_to_skip: SKIPPED,
        fixed_peers: [`127.0.0.1:${peerPort}`],
        http_blob_servers: [],
        reflector_servers: [],
      },
      args: [`--data-dir=${content.path}`],
    }),
  ]);
}, HANG_MS);

afterAll(async () => {
  await leecher?.stop();
  await seeder?.stop();
  content?.remove();
  rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

const statusOf = (daemon: TestDaemon) => daemon.call<Record<string, Record<string, unknown>>>('status');

describe('the blob exchange', { timeout: HANG_MS }, () => {
  it('transfers blobs from one daemon to another', async () => {
    // Files that the database does not know are checked first.
    await expect
      .poll(async () => (await statusOf(seeder))['blob_manager']!['finished_blobs'], { timeout: HANG_MS })
      .toBe(4);
    for (const [hash, bytes] of blobs) {
      expect(await leecher.call('blob_get', { blob_hash: hash, timeout: 60 })).toBe(
        `Downloaded blob ${hash}`,
      );
      expect(readFileSync(content.blobPath(hash)).equals(bytes)).toBe(true);
    }
    const [hash] = [...blobs.keys()].slice(-1);
    expect(await leecher.call('blob_get', { blob_hash: hash, read: true })).toBe('{"text": "plain"}');
    const [binary] = [...blobs.keys()];
    await expect(leecher.call('blob_get', { blob_hash: binary, read: true })).rejects.toThrow(
      'is not UTF-8 text',
    );
  });

  it('reports transfers in the status', async () => {
    const status = await statusOf(seeder);
    expect(status['peer_protocol_server']).toMatchObject({ port: peerPort, refused_connections: 0 });
    const connections = status['blob_manager']!['connections'] as Record<string, number>;
    expect(Object.keys(connections).sort()).toEqual([
      'incoming_bps',
      'max_incoming_mbs',
      'max_outgoing_mbs',
      'outgoing_bps',
      'total_incoming_mbs',
      'total_outgoing_mbs',
      'total_received',
      'total_sent',
    ]);
    expect(connections['total_sent']).toBeGreaterThan(3_097_000);
    await seeder.call('settings_set', { key: 'track_bandwidth', value: false });
    const later = await statusOf(seeder);
    expect(later['blob_manager']!['connections']).toEqual({});
  });

  it('stops at the time limit, and refuses invalid requests', async () => {
    const nowhere = 'ab'.repeat(48);
    await expect(leecher.call('blob_get', { blob_hash: nowhere, timeout: 1 })).rejects.toThrow(
      `Failed to download blob ${nowhere} within 1 seconds.`,
    );
    await expect(leecher.call('blob_get', { blob_hash: 'x' })).rejects.toThrow('x');
    await expect(leecher.call('file_reflect', { sd_hash: nowhere })).rejects.toThrow('contains no reflector');
    for (const reflector of ['::::', '127.0.0.1:99999', 'a b', 'http://127.0.0.1:1'])
      await expect(leecher.call('file_reflect', { sd_hash: nowhere, reflector })).rejects.toThrow(
        `'${reflector}' is not a reflector`,
      );
    await expect(
      leecher.call('blob_reflect', { blob_hashes: [nowhere], reflector_server: '127.0.0.1:1' }),
    ).rejects.toThrow('is not stored here');
    await expect(
      leecher.call('blob_reflect', { blob_hashes: [...blobs.keys()], reflector_server: '127.0.0.1:1' }),
    ).rejects.toThrow('could not be sent to 127.0.0.1:1');
  });

  it('transfers a stream to a daemon that is a reflector', async () => {
    const ports = (await statusOf(seeder))['reflector'] as Record<string, number>;
    const reflector_server = `127.0.0.1:${ports['upload_port']}`;
    const sent = await leecher.call<string[]>('blob_reflect', { blob_hashes: [sdHash], reflector_server });
    expect(sent.sort()).toEqual(streamHashes.sort());
    expect(await leecher.call('blob_reflect', { blob_hashes: streamHashes, reflector_server })).toEqual([]);
    for (const hash of streamHashes) {
      const answer = await fetch(`http://127.0.0.1:${ports['http_port']}/blob?hash=${hash}`);
      expect(Buffer.from(await answer.arrayBuffer()).equals(readFileSync(content.blobPath(hash)))).toBe(true);
    }
    expect((await statusOf(seeder))['reflector']).toMatchObject({
      running: true,
      received_blobs: 3,
      blobs: 3,
    });
    // Blobs that the reflector received do not count as blobs of the daemon itself.
    expect((await statusOf(seeder))['blob_manager']!['finished_blobs']).toBe(4);
    await leecher.call('settings_set', { key: 'reflector_servers', value: [reflector_server] });
    expect(await leecher.call('blob_reflect_all')).toBe(true);
    expect((await statusOf(seeder))['reflector']).toMatchObject({ blobs: 7 });
    expect(await leecher.call('file_reflect', { sd_hash: sdHash })).toEqual([]);
  });
});
