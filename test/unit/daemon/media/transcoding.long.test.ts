/**
 * Mirrors `TranscodeValidation` of lbry-sdk with the real ffmpeg: which films can be played during their download, and which are
 * repaired. ffmpeg makes the films. Without ffmpeg on the path all tests are skipped.
 */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  VideoAnalyzer,
  type CheckedVideo,
  type VideoSettings,
} from '../../../../src/daemon/media/videoAnalyzer.js';
import { SETTINGS } from '../../../../src/daemon/main/settings/settingsTable.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

const hasFfmpeg = ['ffmpeg', 'ffprobe'].every((name) => spawnSync(name, ['-version']).status === 0);
if (!hasFfmpeg) console.log('skipped: there is no ffmpeg on the path');

const run = promisify(execFile);
const CHECK = { validate: true, repair: false };
const REPAIR = { validate: true, repair: true };
const FACTS = { durationSec: 2, width: 320, height: 180 };
/** Two inputs: moving pictures, and a tone that is loud enough for the analysis of the volume. */
const INPUTS = ['testsrc=size=320x180:rate=24', 'sine=frequency=440,volume=6'];
const SECONDS = '1.5';
const DEFAULTS = Object.fromEntries(
  SETTINGS.map((row) => [row.name, row.default]),
) as unknown as VideoSettings;

let folder: string;
let film: string;

const ffmpeg = (...args: string[]) => run('ffmpeg', ['-nostdin', '-v', 'error', ...args]);

/** Makes a copy of the film with other codecs or in another container. */
async function variant(name: string, ...args: string[]): Promise<string> {
  const path = join(folder, name);
  await ffmpeg('-i', film, '-c', 'copy', ...args, path);
  return path;
}

function check(path: string, how = CHECK, settings: Partial<VideoSettings> = {}): Promise<CheckedVideo> {
  const all = { ...DEFAULTS, volume_analysis_time: 0, ...settings };
  return new VideoAnalyzer({ ffmpeg: 'ffmpeg', ffprobe: 'ffprobe' }, all, SILENT_LOGGER).check(path, how);
}

/** Checks that the film is refused with these messages, and that its repaired copy is not. */
async function expectRepaired(path: string, ...messages: string[]): Promise<void> {
  const source = readFileSync(path);
  for (const message of messages) await expect(check(path)).rejects.toThrow(message);
  const repaired = await check(path, REPAIR);
  expect(repaired.path).toMatch(/_fixed\.(?:mp4|webm|ogv)$/);
  expect(await check(repaired.path)).toEqual({ path: repaired.path, facts: FACTS });
  expect(readFileSync(path).equals(source)).toBe(true);
}

describe.skipIf(!hasFfmpeg)('a film', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'films-'));
    film = join(folder, 'film.mp4');
    const inputs = INPUTS.flatMap((input) => ['-f', 'lavfi', '-i', input]);
    const codecs = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];
    await ffmpeg(...inputs, '-t', SECONDS, ...codecs, '-movflags', '+faststart', film);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['film.ogg', ['-c:v', 'libtheora', '-q:v', '4', '-c:a', 'libvorbis', '-q:a', '4']],
    ['film.webm', ['-c:v', 'libvpx-vp9', '-crf', '36', '-b:v', '0', '-c:a', 'libopus', '-b:a', '128k']],
  ])('that can be played is accepted, as MP4 and as %s', async (name, codecs) => {
    expect(await check(film)).toEqual({ path: film, facts: FACTS });
    const path = await variant(name, ...codecs);
    expect(await check(path)).toEqual({ path, facts: FACTS });
  });

  it('whose volume is low is refused, unless the volume is not analysed', async () => {
    const path = await variant('quiet.mp4', '-c:a', 'aac', '-af', 'volume=-40dB', '-movflags', '+faststart');
    await expect(check(path, CHECK, { volume_analysis_time: 200 })).rejects.toThrow('lower than prime');
    expect(await check(path)).toEqual({ path, facts: FACTS });
  });

  it('in another container is repaired', async () => {
    await expectRepaired(
      await variant('container.avi', '-map', '0'),
      'Container format is not in the approved list',
    );
  });

  it('with another video codec, and its index at the end, is repaired', async () => {
    // Noise makes the file so large that ffprobe has to seek to the index.
    const codec = ['-c:v', 'libx265', '-preset', 'superfast', '-vf', 'noise=alls=30:allf=t'];
    await expectRepaired(
      await variant('codec.mp4', ...codec, '-x265-params', 'log-level=none'),
      'Video codec is not in the approved list',
      'faststart flag was not used',
    );
  });

  it('with another pixel format is repaired', async () => {
    await expectRepaired(
      await variant('format.mp4', '-c:v', 'libx264', '-vf', 'format=yuv444p'),
      'pixel format does not match the approved',
    );
  });

  it('with another audio codec is repaired', async () => {
    await expectRepaired(
      await variant('audio.mkv', '-c:a', 'pcm_s16le'),
      'Audio codec is not in the approved list',
    );
  });

  it('above the maximum bit rate is refused', async () => {
    await expect(check(film, CHECK, { video_bitrate_maximum: 100 })).rejects.toThrow(
      'The bit rate is above the configured maximum',
    );
  });
});
