/**
 * A daemon is killed at random moments while it migrates the database of an older lbrynet: the next start has every file.
 * `LBCNODE_FULL=1` kills 10 times at each revision.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSqlite, type SqliteProvider } from '../../src/sqlite/sqliteProvider.js';
import '../unit/daemon/content/migrationKills.test.js';
import { OLD_REVISIONS, oldStream, writeOldFolder } from '../support/oldContentDatabase.js';
import { CONTENT_SETTINGS, ContentWorld } from './support/contentWorld.js';
import { startDaemon } from './support/daemon.js';
import { freePort, HANG_MS, program } from './support/node.js';

const IS_FULL = process.env['LBCNODE_FULL'] === '1';
const KILLS = IS_FULL ? 10 : 3;
const REVISIONS = IS_FULL ? OLD_REVISIONS : ([6, 14] as const);
const SEED = Number(process.env['LBCNODE_SEED'] ?? Date.now() % 1_000_000);
/** Number of files, so that the migration takes some tenths of a second. */
const FILES = 4000;
const STREAMS = Array.from({ length: FILES }, (_, n) => oldStream(`film ${n}.mp4`));
const COUNTED = ['stream', 'stream_blob', 'file', 'claim', 'content_claim', 'blob'] as const;
/** Arbitrary. */
const START_MS = 500;
const LATER_MS = 10;

let world: ContentWorld;
let provider: SqliteProvider;

function fraction(...of: readonly number[]): number {
  const hash = createHash('sha256').update([SEED, ...of].join());
  return hash.digest().readUInt32BE() / 2 ** 32;
}

beforeAll(async () => {
  console.log(`LBCNODE_SEED=${SEED}`);
  provider = await loadSqlite();
  world = await ContentWorld.start();
}, HANG_MS);
afterAll(() => world?.stop(), HANG_MS);

/** Starts lbcnet without waiting until it answers. */
async function spawnDaemon(folder: string) {
  const child = spawn(
    process.execPath,
    [
      program('lbcnet'),
      'start',
      `--config=${join(folder, 'conf.yml')}`,
      `--data-dir=${join(folder, 'data')}`,
      `--wallet-dir=${join(folder, 'wallet')}`,
      `--download-dir=${join(folder, 'files')}`,
      `--api=127.0.0.1:${await freePort()}`,
      `--streaming-server=127.0.0.1:${await freePort()}`,
      '--blockchain-name=lbrycrd_regtest',
      '--network-interface=127.0.0.1',
      '--tcp-port=0',
      '--udp-port=0',
      `--lbryum-servers=127.0.0.1:${world.hubPort}`,
    ],
    { stdio: 'ignore' },
  );
  const exited = new Promise((resolve) => child.once('close', resolve));
  const kill = (): Promise<unknown> => {
    child.kill('SIGKILL');
    return exited;
  };
  return { child, kill };
}

const revisionIn = (folder: string): string => readFileSync(join(folder, 'data', 'db_revision'), 'utf8');
const copiesIn = (folder: string): string[] =>
  readdirSync(join(folder, 'data')).filter((name) => /^rev_|\.copying$/.test(name));

const logBytes = (folder: string): number =>
  statSync(join(folder, 'data', 'lbrynet.sqlite-wal'), { throwIfNoEntry: false })?.size ?? 0;

/** The steps of a migration in order, with the condition that shows that a step was reached. */
const MOMENTS = {
  start: () => true,
  copying: (folder: string) => copiesIn(folder).length > 0,
  copied: (folder: string) => copiesIn(folder).some((name) => !name.endsWith('.copying')),
  writing: (folder: string, share: number) => logBytes(folder) > share * wholeLogBytes,
  written: (folder: string) => revisionIn(folder) === '15',
} as const;
const MOMENT_NAMES = Object.keys(MOMENTS) as (keyof typeof MOMENTS)[];

/** Bytes of the log at the end of a migration. */
let wholeLogBytes = 0;

/** Starts lbcnet, and kills it at the moment, or some milliseconds later. */
async function killedAt(moment: keyof typeof MOMENTS, folder: string, share: number): Promise<void> {
  const { child, kill } = await spawnDaemon(folder);
  while (!MOMENTS[moment](folder, share)) {
    if (child.exitCode !== null) throw new Error('lbcnet ended');
    await setImmediate();
  }
  await sleep(moment === 'start' ? START_MS * share : LATER_MS * share);
  await kill();
}

function countsIn(folder: string): Record<string, unknown> {
  const database = provider.open(join(folder, 'data', 'lbrynet.sqlite'));
  const counts = COUNTED.map((table) => [
    table,
    Number(database.prepare(`select count(*) as n from ${table}`).get()!['n']),
  ]);
  database.close();
  return Object.fromEntries(counts) as Record<string, unknown>;
}

const ALL = {
  stream: FILES,
  stream_blob: 3 * FILES,
  file: FILES,
  claim: FILES,
  content_claim: FILES,
  blob: 3 * FILES,
};

describe.each(REVISIONS)('a daemon that migrates revision %i', (revision) => {
  it(`is killed ${KILLS} times and loses nothing`, { timeout: HANG_MS * KILLS }, async () => {
    const old = join(world.folder, `old-${revision}`);
    mkdirSync(join(old, 'data'), { recursive: true });
    writeFileSync(join(old, 'conf.yml'), JSON.stringify(CONTENT_SETTINGS));
    writeOldFolder({ provider, folder: join(old, 'data'), revision, streams: STREAMS });
    const folder = join(world.folder, `killed-${revision}`);
    const renew = (): void => {
      rmSync(folder, { recursive: true, force: true });
      cpSync(old, folder, { recursive: true });
    };
    renew();
    await killedAt('written', folder, 0);
    wholeLogBytes = logBytes(folder);
    renew();
    const migrated: string[] = [];
    for (let n = 0; n < KILLS; n++) {
      const moment = MOMENT_NAMES[(n + revision) % MOMENT_NAMES.length]!;
      await killedAt(moment, folder, fraction(revision, n));
      const isMigrated = revisionIn(folder) === '15';
      if (isMigrated) migrated.push(moment);
      // The kill came after the end of the migration, so the next attempt starts with the old folder again.
      if (isMigrated || n === KILLS - 1) {
        const daemon = await startDaemon({ hubPorts: [world.hubPort], folder });
        const answer = await daemon.ask({ method: 'file_list', params: { page_size: 1 } });
        await daemon.stop();
        expect(answer).toMatchObject({ result: { total_items: FILES } });
        expect(countsIn(folder)).toEqual(ALL);
        expect(copiesIn(folder)).toEqual([`rev_${revision}_database.sqlite`]);
        expect(
          readFileSync(join(folder, 'data', copiesIn(folder)[0]!)).equals(
            readFileSync(join(old, 'data', 'lbrynet.sqlite')),
          ),
        ).toBe(true);
        renew();
      }
    }
    console.log(`revision ${revision}: ${KILLS} kills, the migration was complete after ${migrated.join()}`);
  });
});
