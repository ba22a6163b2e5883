/** Members of a file that report the progress of its download. */
import { expect, it } from 'vitest';
import { progressMembers } from '../../../../src/daemon/api/fileJson.js';

type File = Parameters<typeof progressMembers>[0];

const BYTES = 4_000_000;
const progress = { peers: 2, knownPeers: 3, bytesPerSecond: 500_000 };
const fileOf = (isRunning: boolean, writtenBytes: number | null): File =>
  ({ isRunning, writtenBytes, bounds: { lower: BYTES, upper: BYTES }, row: { blobsInStream: 2 } }) as File;

it('is estimated from the blobs that are stored or the bytes that are written', () => {
  const left = (writtenBytes: number | null, completed: number) =>
    progressMembers(fileOf(true, writtenBytes), completed, progress);
  expect(left(null, 0)).toEqual({ peers: 2, bytes_per_second: 500_000, seconds_left: 8 });
  // A played file has no output; without stored blobs the output counts.
  expect(left(null, 1)).toMatchObject({ seconds_left: 4 });
  expect(left(3_000_000, 0)).toMatchObject({ seconds_left: 2 });
  expect(progressMembers(fileOf(true, 0), 0, { ...progress, bytesPerSecond: 0 })).toMatchObject({
    seconds_left: null,
  });
});

it('ends with the download, although its connections last longer', () => {
  expect(progressMembers(fileOf(false, BYTES), 2, progress)).toEqual({});
  expect(progressMembers(fileOf(true, 0), 2, progress)).toEqual({});
  expect(progressMembers(fileOf(false, BYTES), 0, progress)).toEqual({});
  expect(progressMembers(fileOf(true, 0), 0, null)).toEqual({});
});
