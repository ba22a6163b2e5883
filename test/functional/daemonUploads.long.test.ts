/**
 * Uploads of a daemon over a link that is cut at 20 places, to a daemon with the reflector role and to the reflector of lbry-sdk
 * (LBRYNET names the program `lbrynet` of a checkout that runs): each continues, and no blob is sent twice.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PythonPeer } from '../support/pythonPeer.js';
import { CONTENT_SETTINGS, ContentWorld, filesOf } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { freePort, HANG_MS } from './support/node.js';
import { UploadProxy, type Cut } from './support/uploadProxy.js';

const LBRYNET = process.env['LBRYNET'];
if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

const FILM_BYTES = 44_000_000;
const BLOBS = 21;
/** The halves of a run: the daemon is killed between them. */
const CUTS: readonly [readonly Cut[], readonly Cut[]] = [
  ['greeting', 'descriptor', 'offer', 0.001, 0.5, 0.999, 'last byte', 'acknowledged', 0.25, 'offer'],
  ['descriptor', 'greeting', 'last byte', 0.75, 'last byte', 'greeting', 'offer', 0.1, 'acknowledged', 0.9],
];
/**
 * The reflector of lbry-sdk refuses all connections for 30 seconds when one ends while it waits for bytes (lbry/stream/reflector/
 * server.py `handle_request`), so few cuts are there.
 */
const SDK_CUTS: readonly Cut[] = [
  'greeting',
  'greeting',
  0.5,
  'last byte',
  'acknowledged',
  'greeting',
  'last byte',
  'acknowledged',
  'greeting',
  'last byte',
  'descriptor',
  'acknowledged',
  'greeting',
  'last byte',
  'descriptor',
  'acknowledged',
  'last byte',
  'greeting',
  'acknowledged',
  'offer',
];

let world: ContentWorld;
let creator: TestDaemon;
let proxy: UploadProxy | null = null;
let sdHash: string;
let hashes: readonly string[];

beforeAll(async () => {
  world = await ContentWorld.start();
  creator = await world.daemon('creator');
  await world.pay(creator, 5);
  const path = join(world.folder, 'film.bin');
  writeFileSync(path, randomBytes(FILM_BYTES));
  await creator.call('publish', { name: 'film', bid: '0.01', file_path: path, blocking: true });
  sdHash = (await filesOf(creator))[0]!.sd_hash;
  ({ items: hashes } = await creator.call<{ items: string[] }>('blob_list', {
    sd_hash: sdHash,
    page_size: 50,
  }));
  expect(hashes).toHaveLength(BLOBS + 1);
}, HANG_MS);

afterEach(async () => {
  await proxy?.stop();
  proxy = null;
});
afterAll(async () => {
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

/**
 * Calls `file reflect` until all cuts are used and the reflector has all blobs. A call fails after six attempts without progress.
 */
async function reflect(isDone: () => boolean): Promise<string[]> {
  const sent: string[] = [];
  const params = { sd_hash: sdHash, reflector: `127.0.0.1:${proxy!.port}` };
  while (!isDone())
    try {
      sent.push(...(await creator.call<string[]>('file_reflect', params)));
    } catch (error) {
      if (!/the connection to the reflector ended/.test((error as Error).message)) throw error;
    }
  return sent;
}

const isWhole = (): boolean => hashes.every((hash) => proxy!.whole.has(hash));
const counts = (): number[] => hashes.map((hash) => proxy!.whole.get(hash) ?? 0);

describe('an upload over a link that is cut at 20 places', () => {
  it(
    'resumes, also after a kill, and sends no blob twice to our reflector',
    { timeout: HANG_MS },
    async () => {
      const port = await freePort();
      const reflector = await world.daemon('reflector', {
        settings: CONTENT_SETTINGS,
        args: [
          '--reflector',
          `--reflector-port=${port}`,
          `--reflector-peer-port=${await freePort()}`,
          `--reflector-http-port=${await freePort()}`,
        ],
      });
      try {
        proxy = await UploadProxy.start(port, CUTS[0]);
        const running = reflect(() => proxy!.cuts.length === 0).catch(() => undefined);
        await expect.poll(() => proxy!.cuts.length).toBe(0);
        await creator.kill();
        await running;
        creator = await world.daemon('creator');
        proxy.cuts.push(...CUTS[1]);
        await reflect(() => proxy!.cuts.length === 0 && isWhole());
        expect(counts()).toEqual(hashes.map(() => 1));
        // A blob that was cut in the middle begins again, once for each cut and connection.
        expect([...proxy.begun.values()].reduce((sum, n) => sum + n, 0)).toBeLessThanOrEqual(
          hashes.length + 21 * 4,
        );
        expect(await reflect(isWhole)).toEqual([]);
        const { reflector: role } = await reflector.call<{ reflector: object }>('status');
        expect(role).toMatchObject({ blobs: hashes.length, received_blobs: hashes.length });
        const [file] = await filesOf(creator);
        expect(file).toMatchObject({ is_fully_reflected: true });
        expect(file).not.toHaveProperty('reflector_error');
      } finally {
        await reflector.stop();
      }
    },
  );

  it.skipIf(!LBRYNET)(
    'resumes, and sends no blob twice to the reflector of lbry-sdk',
    { timeout: HANG_MS },
    async () => {
      const python = new PythonPeer(LBRYNET!);
      try {
        const port = await freePort();
        await python.call('start', await freePort(), port, false);
        proxy = await UploadProxy.start(port, SDK_CUTS);
        expect(SDK_CUTS).toHaveLength(20);
        await reflect(() => proxy!.cuts.length === 0 && isWhole());
        expect(counts()).toEqual(hashes.map(() => 1));
        expect(await python.call('has', hashes)).toEqual(hashes.map(() => true));
      } finally {
        await python.close();
      }
    },
  );
});
