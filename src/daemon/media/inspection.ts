/**
 * Width, height and duration of a media file, read by MediaInfo in a worker. A worker inspects one file: an instance of
 * MediaInfo that is used for several at once mixes up their answers.
 */
import { daemonThread } from '../base/threadCalls.js';

/** Media fields of a claim; unknown ones are absent. */
export interface MediaFacts {
  readonly width?: number;
  readonly height?: number;
  /** Whole seconds, cut. */
  readonly durationSec?: number;
}

/** A damaged file may keep the parser busy. Arbitrary. */
const INSPECTION_MS = 30_000;

/** Resolves to nothing known where the file cannot be understood, or not within `limitMs`. */
export async function inspectMedia(path: string, limitMs = INSPECTION_MS): Promise<MediaFacts> {
  const thread = daemonThread({
    program: ['daemon', 'media', 'inspectionWorker.js'],
    data: null,
    title: 'The inspection of a media file',
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<MediaFacts>((resolve) => {
    timer = setTimeout(() => resolve({}), limitMs);
  });
  try {
    return await Promise.race([thread.call('inspect', [path]) as Promise<MediaFacts>, late]);
  } catch {
    return {};
  } finally {
    clearTimeout(timer);
    await thread.terminate();
  }
}
