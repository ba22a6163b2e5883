/** Entry point of the worker that inspects a media file. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import mediaInfoFactory from 'mediainfo.js';
import { environmentError } from '../../util/text/environmentError.js';
import { serveDaemonThread } from '../base/threadCalls.js';
import type { MediaFacts } from './inspection.js';

interface Track {
  readonly '@type': string;
  readonly Width?: number;
  readonly Height?: number;
  readonly Duration?: number;
}

/** Returns the largest valid value of a field among the tracks; undefined if no track has a valid value. */
function largest(tracks: readonly Track[], field: 'Width' | 'Height' | 'Duration'): number | undefined {
  const values = tracks
    .map((track) => Number(track[field]))
    .filter((value) => Number.isFinite(value) && value > 0);
  return values.length > 0 ? Math.floor(Math.max(...values)) : undefined;
}

function factsOf(tracks: readonly Track[]): MediaFacts {
  const seen = tracks.filter((track) => track['@type'] === 'Video' || track['@type'] === 'Image');
  const [width, height] = [largest(seen, 'Width'), largest(seen, 'Height')];
  const durationSec = largest(tracks, 'Duration');
  return {
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(durationSec === undefined ? {} : { durationSec }),
  };
}

async function inspect(path: string): Promise<MediaFacts> {
  const mediaInfo = await mediaInfoFactory({ format: 'object' });
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const result = await mediaInfo.analyzeData(size, (count, offset) => {
      const chunk = new Uint8Array(count);
      return chunk.subarray(0, readSync(file, chunk, 0, count, offset));
    });
    return factsOf((result.media?.track ?? []) as readonly Track[]);
  } finally {
    closeSync(file);
    mediaInfo.close();
  }
}

serveDaemonThread(
  () => ({ inspect, close: () => undefined }),
  (error) => environmentError(error, 'A media file'),
);
