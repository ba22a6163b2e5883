/** Where ffmpeg and ffprobe are. Source: lbry-sdk lbry/file_analysis.py `VideoFileAnalyzer.status`. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** A probe that takes longer has failed. Arbitrary. */
const PROBE_TIMEOUT_MS = 10_000;

export interface FfmpegPlaces {
  /** The setting: folders, separated as in PATH. */
  readonly ffmpegPath: string;
  readonly dataDir: string;
  readonly path: string;
}

async function answersAs(file: string, name: string): Promise<boolean> {
  try {
    // A process is not made for a file that is not there: that takes much longer than to look.
    await access(file, constants.X_OK);
    const { stdout } = await run(file, ['-version'], { timeout: PROBE_TIMEOUT_MS });
    return stdout.startsWith(name);
  } catch {
    return false;
  }
}

/** The path of the ffmpeg that works and has an ffprobe beside it, else null. */
export async function findFfmpeg({ ffmpegPath, dataDir, path }: FfmpegPlaces): Promise<string | null> {
  const folders = [...ffmpegPath.split(delimiter), join(dataDir, 'ffmpeg', 'bin'), ...path.split(delimiter)];
  const suffix = process.platform === 'win32' ? '.exe' : '';
  for (const folder of new Set(folders.filter(Boolean))) {
    const [ffmpeg, ffprobe] = ['ffmpeg', 'ffprobe'].map((name) => join(folder, name + suffix)) as [
      string,
      string,
    ];
    if ((await answersAs(ffmpeg, 'ffmpeg')) && (await answersAs(ffprobe, 'ffprobe'))) return ffmpeg;
  }
  return null;
}

/** The ffprobe that `findFfmpeg` found beside the ffmpeg. */
export const probeBeside = (ffmpeg: string): string =>
  join(dirname(ffmpeg), process.platform === 'win32' ? 'ffprobe.exe' : 'ffprobe');
