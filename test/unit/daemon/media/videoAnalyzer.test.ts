import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VideoAnalyzer, type VideoSettings } from '../../../../src/daemon/media/videoAnalyzer.js';
import { splitWords } from '../../../../src/daemon/media/words.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

const SETTINGS: VideoSettings = {
  video_encoder: 'libx264 -crf 24 -preset faster -pix_fmt yuv420p',
  audio_encoder: 'aac -b:a 160k',
  video_scaler: String.raw`-vf "scale=if(gte(iw\,ih)\,min(1920\,iw)\,-2)" -maxrate 5500K`,
  video_bitrate_maximum: 5_000_000,
  volume_analysis_time: 240,
  volume_filter: '-af loudnorm',
};

const video = {
  codec_type: 'video',
  codec_name: 'h264',
  codec_long_name: 'H.264',
  pix_fmt: 'yuv420p',
  width: 640,
  height: 360,
};
const audio = { codec_type: 'audio', codec_name: 'aac', codec_long_name: 'AAC', sample_rate: '44100' };
const GOOD = {
  format: {
    format_name: 'mov,mp4,m4a,3gp,3g2,mj2',
    format_long_name: 'QuickTime / MOV',
    duration: '2.4',
    bit_rate: '900000',
  },
  streams: [video, audio],
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'video-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Answers {
  readonly scan: unknown;
  readonly debug?: string;
  readonly volume?: string;
  readonly encoders?: string;
  /** Exit code of the program that makes the copy. */
  readonly code?: number;
}

/** Fake programs that give the answers of the test and record their arguments. */
function analyzer(answers: Answers, settings: Partial<VideoSettings> = {}) {
  const log = join(folder, 'calls');
  const program = (name: string, body: string): string => {
    const path = join(folder, name);
    writeFileSync(
      path,
      `#!${process.execPath}\nconst fs = require('fs'); const args = process.argv.slice(2);\n` +
        `fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify([${JSON.stringify(name)}, ...args]) + '\\n');\n${body}\n`,
    );
    chmodSync(path, 0o755);
    return path;
  };
  const shown = (text = ''): string => JSON.stringify(text);
  const ffprobe = program(
    'ffprobe',
    `process.stdout.write(args.includes('debug') ? ${shown(answers.debug)} : ${shown(JSON.stringify(answers.scan))});`,
  );
  const ffmpeg = program(
    'ffmpeg',
    `if (args.includes('-encoders')) process.stdout.write(${shown(answers.encoders)});
     else if (args.includes('volumedetect')) process.stderr.write(${shown(answers.volume)});
     else { fs.writeFileSync(args.at(-1), 'copy'); process.exitCode = ${answers.code ?? 0}; }`,
  );
  const path = join(folder, 'my film.mov');
  writeFileSync(path, 'film');
  const calls = (): string[][] =>
    existsSync(log)
      ? readFileSync(log, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as string[])
      : [];
  return {
    path,
    calls,
    analyzer: new VideoAnalyzer({ ffmpeg, ffprobe }, { ...SETTINGS, ...settings }, SILENT_LOGGER),
  };
}

const ENCODERS =
  ' V....D libx264              H.264\n V....D libvpx-vp9  VP9\n A....D aac  AAC\n A....D libopus  Opus\n';
const CHECK = { validate: true, repair: false };
const REPAIR = { validate: true, repair: true };

describe('a film', () => {
  it('that can be played while it is loaded is published as it is', async () => {
    const { path, analyzer: one } = analyzer({
      scan: GOOD,
      debug: 'Before avformat_find_stream_info() pos: 48 seeks:0 ',
    });
    expect(await one.check(path, REPAIR)).toEqual({
      path,
      facts: { durationSec: 3, width: 640, height: 360 },
    });
  });

  it('is reported with all its problems at once', async () => {
    const bad = {
      format: {
        ...GOOD.format,
        format_name: 'matroska,webm',
        format_long_name: 'Matroska',
        bit_rate: '9000000',
      },
      streams: [
        { ...video, pix_fmt: 'yuv444p' },
        { ...audio, sample_rate: '96000' },
      ],
    };
    const { path, analyzer: one } = analyzer({
      scan: bad,
      volume: 'mean_volume: -30.1 dB\nmax_volume: -9.5 dB',
    });
    await expect(one.check(path, CHECK)).rejects.toThrow(
      [
        'Streamability verification failed:',
        'WebM format requires VP8/9 or AV1 video. Actual: h264 [H.264]',
        'The bit rate is above the configured maximum. Actual: 9 Mbps; Allowed max: 5 Mbps',
        'Video codec is H264, but its pixel format does not match the approved yuv420p. Actual: yuv444p',
        'Sample rate out of range',
        'Audio is at least five dB lower than prime. Actual max: -9.5, mean: -30.1',
      ].join('\n   '),
    );
  });

  it.each([
    ['its container', { format: { format_name: 'avi' } }, 'Container format is not in the approved list'],
    [
      'its video',
      { streams: [{ ...video, codec_name: 'mpeg4' }] },
      'Video codec is not in the approved list',
    ],
    [
      'its audio',
      { streams: [video, { ...audio, codec_name: 'ac3' }] },
      'Audio codec is not in the approved list',
    ],
  ])('is refused for %s', async (_what, change, message) => {
    const scan = {
      format: { ...GOOD.format, ...(change as typeof GOOD).format },
      streams: (change as typeof GOOD).streams ?? GOOD.streams,
    };
    const { path, analyzer: one } = analyzer({ scan });
    await expect(one.check(path, CHECK)).rejects.toThrow(message);
  });

  it('with its index at the end gets a copy, its streams unchanged', async () => {
    const debug = 'Before avformat_find_stream_info() pos: 48 bytes read:99 seeks:2 nb_streams:2';
    const { path, calls, analyzer: one } = analyzer({ scan: GOOD, debug });
    await expect(one.check(path, CHECK)).rejects.toThrow('the faststart flag was not used');
    const output = join(folder, 'my film_fixed.mp4');
    expect((await one.check(path, REPAIR)).path).toBe(output);
    expect(calls().at(-1)).toEqual(
      [
        'ffmpeg',
        '-nostdin',
        '-protocol_whitelist',
        'file',
        '-i',
        path,
        '-n',
        '-c:s',
        'copy',
        '-c:d',
        'copy',
        '-c:v',
        'copy',
      ].concat(['-movflags', '+faststart', '-c:a', 'copy', output]),
    );
    expect(readFileSync(path, 'utf8')).toBe('film');
    // An existing copy may have been changed by the user, so it is not replaced.
    expect((await one.check(path, REPAIR)).path).toBe(join(folder, 'my film_fixed_2.mp4'));
  });

  it('is encoded with available codecs if its own encoding is not allowed', async () => {
    const scan = {
      format: GOOD.format,
      streams: [
        { ...video, codec_name: 'mpeg4' },
        { ...audio, codec_name: 'ac3' },
      ],
    };
    const { path, calls, analyzer: one } = analyzer({ scan, encoders: ENCODERS });
    await one.check(path, REPAIR);
    const words = calls().at(-1)!;
    expect(words.slice(words.indexOf('-c:v'), words.indexOf('-movflags'))).toEqual(
      ['-c:v', 'libx264', '-crf', '24', '-preset', 'faster', '-pix_fmt', 'yuv420p', '-vf'].concat([
        String.raw`scale=if(gte(iw\,ih)\,min(1920\,iw)\,-2)`,
        '-maxrate',
        '5500K',
      ]),
    );
    expect(words.slice(words.indexOf('-c:a'), -1)).toEqual(['-c:a', 'aac', '-b:a', '160k']);
    const other = analyzer(
      { scan, encoders: ENCODERS.replace('libx264', 'libother') },
      { audio_encoder: 'mp3 -q 1' },
    );
    expect((await other.analyzer.check(other.path, REPAIR)).path).toMatch(/\.webm$/);
    expect(other.calls().at(-1)!.join(' ')).toContain('-c:v libvpx-vp9 -crf 36 -b:v 0');
    expect(other.calls().at(-1)!.join(' ')).toContain('-c:a libopus -b:a 160k');
  });

  it('is published unchanged if the copy fails, unless validation is required', async () => {
    const scan = { format: { ...GOOD.format, format_name: 'avi' }, streams: GOOD.streams };
    const { path, analyzer: one } = analyzer({ scan, code: 1 });
    await expect(one.check(path, REPAIR)).rejects.toThrow(
      'Failure to complete the transcode command. Output:',
    );
    expect((await one.check(path, { validate: false, repair: true })).path).toBe(path);
    expect(existsSync(join(folder, 'my film_fixed.mp4'))).toBe(false);
  });

  it('is a file with a duration', async () => {
    for (const scan of [
      'nonsense',
      {},
      { format: { format_name: 'png_pipe', duration: '0.04' }, streams: [] },
    ]) {
      const { path, analyzer: one } = analyzer({ scan });
      expect(await one.check(path, REPAIR)).toEqual({ path, facts: {} });
    }
  });
});

describe('arguments in settings', () => {
  it('are split like in a shell, and nothing is expanded', () => {
    expect(splitWords(` -a  "b c" 'd "e"' f\\ g "h\\"i\\n" $HOME;rm '' `)).toEqual([
      '-a',
      'b c',
      'd "e"',
      'f g',
      'h"i\\n',
      '$HOME;rm',
      '',
    ]);
    expect(splitWords('')).toEqual([]);
    expect(() => splitWords('"open')).toThrow('a quotation mark is not closed');
  });
});
