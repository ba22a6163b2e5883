/** Descriptors from untrusted peers that are false or would fill the memory. */
import { describe, expect, it } from 'vitest';
import { MAX_BLOB_BYTES } from '../../../../src/daemon/content/blobHash.js';
import { descriptorBytes, readDescriptor, streamHashOf } from '../../../../src/daemon/content/descriptor.js';

/** A text with as many copies of `one` as fit in a blob. */
const filled = (start: string, one: string, end: string): Buffer =>
  Buffer.from(
    start + one.repeat(Math.floor((MAX_BLOB_BYTES - start.length - end.length) / one.length)) + end,
  );

const HOSTILE: readonly (readonly [string, Buffer])[] = [
  ['a million entries without content', filled('{"blobs": [', '{},', '{}]}')],
  ['entries that are numbers', filled('{"blobs": [', '0,', '0]}')],
  ['entries with nothing but a length', filled('{"blobs": [', '{"length": 1},', '{"length": 0}]}')],
  ['members without end', filled('{', '"a":1,', '"blobs": []}')],
  ['lists within lists', filled('{"blobs": ', '[', '')],
  ['objects within objects', filled('', '{"blobs":', '')],
  ['one long name', filled('{"stream_name": "', 'ab', '"}')],
  ['a number of two million digits', filled('{"blobs": [{"length": ', '9', '}]}')],
  ['more bytes than a blob', Buffer.alloc(MAX_BLOB_BYTES + 1, ' ')],
];

function stream(lengths: readonly number[]) {
  const blobs = [...lengths, 0].map((length, blobNum) => ({
    blobHash: blobNum === lengths.length ? null : 'ab'.repeat(48),
    blobNum,
    iv: '00'.repeat(16),
    length,
  }));
  const described = { streamName: 'a', key: '11'.repeat(16), suggestedFileName: 'a', blobs };
  return { ...described, streamHash: streamHashOf(described) };
}

describe('readDescriptor', () => {
  it.each(HOSTILE)('refuses %s, using little memory', (_, bytes) => {
    global.gc?.();
    const before = process.memoryUsage().heapUsed;
    expect(() => readDescriptor(bytes)).toThrow(
      expect.objectContaining({ name: 'InvalidStreamDescriptorError' }),
    );
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(200 * 1024 * 1024);
  });

  it.each([[[2 ** 53]], [[-16]], [[17]], [[MAX_BLOB_BYTES + 16]], [[1e300]]])(
    'refuses a length of %s, which no blob has',
    (lengths) => {
      expect(() => readDescriptor(descriptorBytes(stream(lengths)))).toThrow('The length of a blob');
    },
  );

  it('takes as many entries as a blob holds', () => {
    const whole = stream(Array.from({ length: 10_500 }, () => MAX_BLOB_BYTES));
    const bytes = descriptorBytes(whole);
    expect(bytes.length).toBeGreaterThan(MAX_BLOB_BYTES - 64 * 1024 * 3);
    expect(bytes.length).toBeLessThanOrEqual(MAX_BLOB_BYTES);
    expect(readDescriptor(bytes).blobs.length).toBe(10_501);
  });
});
