/** Search for ffmpeg and ffprobe. Source: lbry-sdk lbry/file_analysis.py `VideoFileAnalyzer.status`. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Milliseconds for a test run of a program. Arbitrary. */
const PROBE_TIMEOUT_MS = 10_000;

export interface FfmpegPlaces {
  /** Value of the setting `ffmpeg_path`: folders in the format of PATH. */
  readonly ffmpegPath: string;
  readonly dataDir: string;
  readonly path: string;
}

async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function answersAs(file: string, name: string): Promise<boolean> {
  try {
    const { stdout } = await run(file, ['-version'], { timeout: PROBE_TIMEOUT_MS });
    return stdout.startsWith(name);
  } catch {
    return false;
  }
}

/** Path of a working ffmpeg with an ffprobe in the same folder, or null. */
export async function findFfmpeg({ ffmpegPath, dataDir, path }: FfmpegPlaces): Promise<string | null> {
  const folders = [...ffmpegPath.split(delimiter), join(dataDir, 'ffmpeg', 'bin'), ...path.split(delimiter)];
  const suffix = process.platform === 'win32' ? '.exe' : '';
  for (const folder of new Set(folders.filter(Boolean))) {
    const [ffmpeg, ffprobe] = ['ffmpeg', 'ffprobe'].map((name) => join(folder, name + suffix)) as [
      string,
      string,
    ];
    // Checks first whether the files exist, because creating a process for a missing file takes much longer.
    if (!(await isProgram(ffmpeg)) || !(await isProgram(ffprobe))) continue;
    const answers = await Promise.all([answersAs(ffmpeg, 'ffmpeg'), answersAs(ffprobe, 'ffprobe')]);
    if (answers.every(Boolean)) return ffmpeg;
  }
  return null;
}

/** Path of the ffprobe next to the ffmpeg that `findFfmpeg` found. */
export const probeBeside = (ffmpeg: string): string =>
  join(dirname(ffmpeg), process.platform === 'win32' ? 'ffprobe.exe' : 'ffprobe');
