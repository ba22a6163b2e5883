/**
 * Width, height and duration of a media file, read by MediaInfo in a worker. Each worker inspects one file, because an
 * instance of MediaInfo refuses concurrent calls.
 */
import { daemonThread } from '../base/threadCalls.js';

/** Media fields of a claim. Fields that MediaInfo did not find are absent. */
export interface MediaFacts {
  readonly width?: number;
  readonly height?: number;
  /** Duration of the media in whole seconds, rounded down. */
  readonly durationSec?: number;
}

/** Milliseconds for an inspection, because a corrupt file may keep the parser busy. Arbitrary. */
const INSPECTION_MS = 30_000;

/** Inspects a file. The result is empty if the file is unreadable or the inspection takes more than `limitMs` milliseconds. */
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
