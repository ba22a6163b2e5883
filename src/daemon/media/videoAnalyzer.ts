/**
 * Checks videos before publishing (`validate_file`), and creates copies that can be streamed (`optimize_file`). The source
 * file is never changed. Programs get their arguments as a list, without a shell. Source: lbry-sdk lbry/file_analysis.py
 * `verify_or_repair`.
 */
import { execFile } from 'node:child_process';
import { access, rm, stat } from 'node:fs/promises';
import { devNull } from 'node:os';
import { dirname, join, parse } from 'node:path';
import type { Logger } from '../../util/logging.js';
import { DaemonError, failure } from '../base/daemonError.js';
import type { MediaFacts } from './inspection.js';
import {
  audioProblem,
  bestExtension,
  bitRateProblem,
  constantRateFactor,
  containerProblem,
  dimensionsOf,
  fastStartProblem,
  parseScan,
  SAMPLE_RATE_PROBLEM,
  videoProblem,
  volumeProblem,
  type VideoScan,
} from './videoScan.js';
import { splitWords } from './words.js';

/** The settings about videos, with the names that they have in the settings file. */
export interface VideoSettings {
  readonly video_encoder: string;
  readonly audio_encoder: string;
  readonly video_scaler: string;
  /** Maximum bit rate in bits per second; 0 for no limit. */
  readonly video_bitrate_maximum: number;
  /** Length of the analysed part of the audio in seconds; 0 disables the volume analysis. */
  readonly volume_analysis_time: number;
  readonly volume_filter: string;
}

/** Paths of the programs ffmpeg and ffprobe. */
export interface VideoTools {
  readonly ffmpeg: string;
  readonly ffprobe: string;
}

export interface VideoCheck {
  /** Whether to refuse a video that cannot be streamed. */
  readonly validate: boolean;
  /** Whether to create a streamable copy. With `validate`, it is an error if the copy cannot be created. */
  readonly repair: boolean;
}

/** Path of the file to publish, and the results of the check. */
export interface CheckedVideo {
  readonly path: string;
  readonly facts: MediaFacts;
}

interface Output {
  readonly text: string;
  readonly code: number;
}

/** Arguments that restrict ffmpeg to local files, because a playlist could otherwise refer to the network. */
const ONLY_FILES = ['-protocol_whitelist', 'file'];
/** Maximum number of output bytes of ffmpeg or ffprobe; a program with more output is killed. Arbitrary. */
const MAX_OUTPUT_BYTES = 16 << 20;
/** Number of characters from the end of ffmpeg's output that an error message contains. */
const SHOWN_CHARS = 600;
const FIXED_SUFFIX = '_fixed';
const MAX_NAMES = 1000;

function run(program: string, args: readonly string[], signal: AbortSignal | undefined): Promise<Output> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: MAX_OUTPUT_BYTES, ...(signal ? { signal } : {}) };
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error?.name === 'AbortError') reject(error);
      else resolve({ text: stdout + stderr, code: error === null ? 0 : Number(error.code) || 1 });
    });
  });
}

export class VideoAnalyzer {
  readonly #tools: VideoTools;
  readonly #settings: VideoSettings;
  readonly #log: Pick<Logger, 'info' | 'warn'>;
  #encoders: string | null = null;

  constructor(tools: VideoTools, settings: VideoSettings, log: Pick<Logger, 'info' | 'warn'>) {
    this.#tools = tools;
    this.#settings = settings;
    this.#log = log;
  }

  /**
   * Returns the file itself or a repaired copy in the same folder. Files that are not videos are returned unchecked. Throws
   * `Exception` with all problems if the file is validated and not repaired.
   */
  async check(path: string, { validate, repair }: VideoCheck, signal?: AbortSignal): Promise<CheckedVideo> {
    const scanned = await run(
      this.#tools.ffprobe,
      [...ONLY_FILES, '-v', 'quiet', '-print_format', 'json', '-show_format', '-show_streams', path],
      signal,
    );
    const scan = parseScan(scanned.text);
    if (scan === null) return { path, facts: {} };
    const { width, height } = dimensionsOf(scan);
    const facts: MediaFacts = {
      durationSec: Math.ceil(Number(scan.format.duration)),
      ...(height > 0 ? { height } : {}),
      ...(width > 0 ? { width } : {}),
    };
    const problems = await this.#problemsOf(scan, path, signal);
    const messages = Object.values(problems).filter((message) => message !== '');
    if (messages.length === 0) return { path, facts };
    if (!repair) throw failure(['Streamability verification failed:', ...messages].join('\n   '));
    try {
      return { path: await this.#repair(path, scan, problems, signal), facts };
    } catch (error) {
      if (validate || signal?.aborted) throw error;
      this.#log.warn(`The file ${path} is published unchanged: ${(error as Error).message}`);
      return { path, facts };
    }
  }

  /** Messages about the video's problems, in lbry-sdk's order. */
  async #problemsOf(scan: VideoScan, path: string, signal: AbortSignal | undefined) {
    const { video_bitrate_maximum: maximum } = this.#settings;
    const { size } = await stat(path);
    const isSeekable = fastStartProblem(scan, '') === '' && /webm|ogg/.test(scan.format.format_name);
    const debug = isSeekable
      ? ''
      : (await run(this.#tools.ffprobe, [...ONLY_FILES, '-v', 'debug', path], signal)).text;
    return {
      container: containerProblem(scan),
      bitRate: bitRateProblem(scan, size, maximum),
      fastStart: fastStartProblem(scan, debug),
      video: videoProblem(scan),
      audio: audioProblem(scan),
      volume: await this.#volumeProblem(path, signal),
    };
  }

  async #volumeProblem(path: string, signal: AbortSignal | undefined): Promise<string> {
    const { volume_analysis_time: seconds } = this.#settings;
    if (seconds <= 0) return '';
    const filter = ['-af', 'volumedetect', '-vn', '-sn', '-dn', '-f', 'null', devNull];
    return volumeProblem((await this.#ffmpeg(['-i', path, '-t', `${seconds}`, ...filter], signal)).text);
  }

  #ffmpeg(args: readonly string[], signal: AbortSignal | undefined): Promise<Output> {
    return run(this.#tools.ffmpeg, ['-nostdin', ...ONLY_FILES, ...args], signal);
  }

  async #repair(
    path: string,
    scan: VideoScan,
    problems: { video: string; bitRate: string; audio: string; volume: string },
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const settings = this.#settings;
    const encoder = problems.video || problems.bitRate ? await this.#videoEncoder(scan) : null;
    const extension = bestExtension(scan, encoder);
    const output = await freeName(path, extension);
    const video =
      encoder === null ? ['copy'] : [...splitWords(encoder), ...splitWords(settings.video_scaler)];
    const audio =
      problems.audio || problems.volume
        ? [
            ...splitWords(await this.#audioEncoder(extension)),
            ...(problems.volume ? splitWords(settings.volume_filter) : []),
            ...(problems.audio === SAMPLE_RATE_PROBLEM ? ['-ar', '48000'] : []),
          ]
        : ['copy'];
    const args = [
      '-n',
      '-c:s',
      'copy',
      '-c:d',
      'copy',
      '-c:v',
      ...video,
      '-movflags',
      '+faststart',
      '-c:a',
      ...audio,
    ];
    this.#log.info(`A copy of ${path} that can be played during the download is created: ${output}`);
    try {
      const { text, code } = await this.#ffmpeg(['-i', path, ...args, output], signal);
      if (code !== 0)
        throw failure(
          `Failure to complete the transcode command. Output: ${text.trim().slice(-SHOWN_CHARS)}`,
        );
    } catch (error) {
      await rm(output, { force: true });
      throw error;
    }
    return output;
  }

  async #has(kind: 'V' | 'A', encoder: string): Promise<boolean> {
    this.#encoders ??= (await this.#ffmpeg(['-encoders', '-v', 'quiet'], undefined)).text;
    const lines = this.#encoders.split('\n').map((line) => line.trim().split(/\s+/));
    return lines.some(
      ([flags = '', name]) => flags.length === 6 && flags.startsWith(kind) && name === encoder,
    );
  }

  /** Source: `_get_video_encoder`. */
  async #videoEncoder(scan: VideoScan): Promise<string> {
    const wanted = this.#settings.video_encoder;
    const [name = ''] = wanted.split(' ', 1);
    if (await this.#has('V', name)) return wanted;
    if (await this.#has('V', 'libx264')) return 'libx264 -crf 19 -vf "format=yuv420p"';
    if (await this.#has('V', 'libvpx-vp9')) return `libvpx-vp9 -crf ${constantRateFactor(scan)} -b:v 0`;
    if (await this.#has('V', 'libtheora')) return 'libtheora -q:v 7';
    throw failure(`The video encoder is not available. Requested: ${name || 'libx264'}`);
  }

  /** Source: `_get_audio_encoder`. */
  async #audioEncoder(extension: string): Promise<string> {
    const wanted = this.#settings.audio_encoder;
    const [name = ''] = wanted.split(' ', 1);
    if (extension !== 'mp4') {
      if (name.includes('opus')) return wanted;
      if (await this.#has('A', 'libopus')) return 'libopus -b:a 160k';
      if (name.includes('vorbis')) return wanted;
      if (await this.#has('A', 'libvorbis')) return 'libvorbis -q:a 6';
    }
    if (await this.#has('A', name)) return wanted;
    if (await this.#has('A', 'aac')) return 'aac -b:a 192k';
    throw failure(`The audio encoder is not available. Requested: ${name || 'aac'}`);
  }
}

/** Unused file name in the source's folder. lbry-sdk instead overwrites an existing file. */
async function freeName(path: string, extension: string): Promise<string> {
  const { name } = parse(path);
  for (let n = 1; n <= MAX_NAMES; n++) {
    const output = join(dirname(path), `${name}${FIXED_SUFFIX}${n === 1 ? '' : `_${n}`}.${extension}`);
    const isFree = await access(output).then(
      () => false,
      () => true,
    );
    if (isFree) return output;
  }
  throw failure(`The folder of ${path} contains too many repaired copies of it.`);
}

/** Source: `_verify_ffmpeg_installed`. */
export const noFfmpeg = (): DaemonError =>
  new DaemonError(
    'FileNotFoundError',
    'Unable to locate or run ffmpeg or ffprobe. Please install FFmpeg and ensure that it is callable via PATH or ' +
      'conf.ffmpeg_path',
  );
