/** The media server as players use it: curl, and a video element of Chromium that seeks in a file which is being downloaded. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasChromium, launch } from '../browser/support.js';
import { ContentWorld, filesOf, type ListedFile } from './support/contentWorld.js';
import type { TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { freePort, HANG_MS } from './support/node.js';

const BYTES_PER_SEC = 176_400;
const SECONDS = 120;
/** The longest name of a claim, in bytes of UTF-8. */
const LONG_NAME = 'ü'.repeat(100) + 'b'.repeat(55);

/** A sound file of noise: 44,100 stereo samples of 16 bits a second. Any second begins at a known byte. */
function wave(seconds: number): Buffer {
  const size = BYTES_PER_SEC * seconds;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + size, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(2, 22);
  head.writeUInt32LE(44_100, 24);
  head.writeUInt32LE(BYTES_PER_SEC, 28);
  head.writeUInt16LE(4, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(size, 40);
  return Buffer.concat([head, randomBytes(size)]);
}

let world: ContentWorld;
let creator: TestDaemon;
let viewer: TestDaemon;
let film: Buffer;
let base: string;

const limit = (bytesPerSecond: number) =>
  creator.call('settings_set', { key: 'upload_bytes_per_second', value: bytesPerSecond });

beforeAll(async () => {
  world = await ContentWorld.start();
  const peerPort = await freePort();
  creator = await world.daemon('creator', { args: [`--tcp-port=${peerPort}`] });
  viewer = await world.daemon('viewer', {
    settings: { fixed_peers: [`127.0.0.1:${peerPort}`], fixed_peer_delay: 0, save_files: false },
  });
  await world.pay(creator, 10);
  film = wave(SECONDS);
  const path = join(world.folder, 'film.wav');
  writeFileSync(path, film);
  for (const name of ['film', 'seeking', LONG_NAME])
    await creator.call('publish', { name, bid: '0.01', file_path: path, blocking: true });
  await world.mine(creator, viewer);
  base = `http://${(await viewer.call<{ streaming_server: string }>('settings_get')).streaming_server}`;
}, HANG_MS);

afterAll(async () => {
  await viewer?.stop();
  await creator?.stop();
  await world?.stop();
}, HANG_MS);

/** Runs curl. Resolves to its standard output; rejects if it exits with another code than 0. */
async function curl(path: string, ...args: readonly string[]): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(
    'curl',
    ['--silent', '--show-error', '--max-time', '120', ...args, base + path],
    { encoding: 'buffer', maxBuffer: 2 ** 26 },
  );
  return stdout;
}
const headOf = async (path: string, ...args: readonly string[]): Promise<string> =>
  (await curl(path, '--head', ...args)).toString('latin1').toLowerCase();
const fileOf = async (name: string): Promise<ListedFile | undefined> =>
  (await filesOf(viewer, { claim_name: name }))[0];

describe('curl', () => {
  it('gets size and type of a name of 255 bytes by HEAD, without a download', async () => {
    expect(Buffer.byteLength(LONG_NAME)).toBe(255);
    const head = await headOf(`/get/${encodeURIComponent(LONG_NAME)}`, '--location');
    expect(head).toContain('http/1.1 302 found');
    expect(head).toContain('http/1.1 200 ok');
    expect(head).toContain(`content-length: ${film.length}`);
    expect(head).toContain('accept-ranges: bytes');
    expect(await fileOf(LONG_NAME)).toBeUndefined();
  });

  it('downloads it by name, with a query string', async () => {
    const path = `/get/${encodeURIComponent(LONG_NAME)}?t=10&autoplay=1`;
    expect((await curl(path, '--location')).equals(film)).toBe(true);
    expect(await fileOf(LONG_NAME)).toMatchObject({ blobs_completed: 11, blobs_in_stream: 11 });
  });

  it('resumes a download that was cut off', async () => {
    const path = join(world.folder, 'resumed.wav');
    for (const [length, range] of [
      [1, 'the first byte'],
      [2_097_151, 'a boundary of blobs'],
      [film.length - 1, 'the last byte'],
    ] as const) {
      writeFileSync(path, film.subarray(0, length));
      await curl('/get/film', '--location', '--continue-at', '-', '--output', path);
      expect(readFileSync(path).equals(film), range).toBe(true);
    }
  });

  it('gets one range, several ranges and a suffix, and 416 for a range after the end', async () => {
    const { sd_hash: sdHash } = (await fileOf('film'))!;
    const path = `/stream/${sdHash}`;
    const part = (from: number, to: number): Buffer => film.subarray(from, to);
    expect((await curl(path, '--range', '2097100-2097200')).equals(part(2_097_100, 2_097_201))).toBe(true);
    expect((await curl(path, '--range', '-17')).equals(part(film.length - 17, film.length))).toBe(true);
    const several = await curl(path, '--range', '0-9,4194290-4194310,-5');
    const [, boundary] = /^--(\w+)\r\n/.exec(several.toString('latin1'))!;
    const parts = several
      .toString('latin1')
      .split(`--${boundary}`)
      .slice(1, -1)
      .map((text) => text.slice(text.indexOf('\r\n\r\n') + 4, -2));
    expect(parts).toEqual(
      [part(0, 10), part(4_194_290, 4_194_311), part(film.length - 5, film.length)].map((bytes) =>
        bytes.toString('latin1'),
      ),
    );
    const status = async (...args: readonly string[]): Promise<string> =>
      (
        await curl(path, '--output', '/dev/null', '--write-out', '%{http_code} %{size_download}', ...args)
      ).toString();
    expect(await status('--range', `${film.length}-`)).toMatch(/^416 /);
    expect(await status('--range', '3-9', '--header', `If-Range: "${sdHash}"`)).toBe('206 7');
    expect(await status('--range', '3-9', '--header', 'If-Range: "other"')).toBe(`200 ${film.length}`);
    expect(await status('--header', `If-None-Match: "${sdHash}"`)).toBe('304 0');
    expect(await headOf(path, '--range', '3-9')).toContain(`content-length: ${film.length}`);
  });
});

describe.skipIf(!hasChromium)('a video element of Chromium', () => {
  it('plays and seeks in a file that is not there yet, and ends the download when it is closed', async () => {
    // The file needs 40 seconds.
    await limit(film.length / 40);
    const browser = await launch();
    try {
      const page = await browser.newPage();
      await page.setContent(`<video src="${base}/get/seeking" muted preload="metadata"></video>`);
      const duration = await page.evaluate<number>(`new Promise((resolve, reject) => {
        const video = document.querySelector('video');
        video.onerror = () => reject(new Error(video.error.message));
        if (video.readyState > 0) resolve(video.duration);
        else video.onloadedmetadata = () => resolve(video.duration);
      })`);
      expect(Math.round(duration)).toBe(SECONDS);
      const seek = (second: number): Promise<number> =>
        page.evaluate<number>(`new Promise((resolve, reject) => {
          const video = document.querySelector('video');
          video.onerror = () => reject(new Error(video.error.message));
          video.onplaying = null;
          video.onseeked = () => {
            video.onseeked = null;
            video.ontimeupdate = () => video.currentTime > ${second} + 0.5 && resolve(video.currentTime);
            void video.play();
          };
          video.currentTime = ${second};
        })`);
      expect(await seek(110)).toBeGreaterThan(110.5);
      // The first blobs and those at the end are there, and not the blobs between.
      expect((await fileOf('seeking'))!.blobs_completed).toBeLessThan(8);
      expect(await seek(40)).toBeGreaterThan(40.5);
      await page.close();
      await until('the download has ended', async () => (await fileOf('seeking'))?.status === 'stopped');
      const { peer_protocol_server: server } = await creator.call<{
        peer_protocol_server: { transfers: number };
      }>('status');
      expect(server.transfers).toBe(0);
      expect((await fileOf('seeking'))!.blobs_completed).toBeLessThan(11);
    } finally {
      await browser.close();
      await limit(0);
    }
  });
});
