/** Blobs, streams, descriptors and file names as the Python lbry-sdk makes and reads them. */
import { createHash } from 'node:crypto';
import { decryptBlob, encryptPiece } from '../../src/daemon/blobs/cipher.js';
import { blobHashOf, isBlobHash, PIECE_BYTES } from '../../src/daemon/content/blobHash.js';
import {
  descriptorBytes,
  oldDescriptorBytes,
  readDescriptor,
  sizeBounds,
  streamHashOf,
  type DescriptorBlob,
} from '../../src/daemon/content/descriptor.js';
import { safeFileName } from '../../src/daemon/content/fileNames.js';
import { DaemonError } from '../../src/daemon/base/daemonError.js';
import { mediaTypeOfFile, streamKindOf } from '../../src/metadata/mediaTypes.js';
import { AcceptedDifferences } from '../support/acceptedDifferences.js';
import { checkAccepted, checkSdkVectors, differs, firstOf, type SdkLine } from './sdkVectors.js';

const accepted = new AcceptedDifferences('sdkStreams');

const bytesOf = (hex: unknown): Buffer => Buffer.from(hex as string, 'hex');

const PERIOD = 65_521;

/** The file of a recorded stream, by the formula of the recordings. */
function fileOf({ size, a, b, c }: SdkLine): Buffer {
  const period = Buffer.alloc(PERIOD);
  for (let j = 0; j < PERIOD; j++) {
    const value = j * j * (a as number) + j * (b as number) + (c as number);
    period[j] = Math.floor(value / 128) % 256;
  }
  return Buffer.alloc(size as number, period);
}

function checkStream(line: SdkLine): string | null {
  const file = fileOf(line);
  const key = bytesOf(line['key']);
  const ivs = line['ivs'] as string[];
  const blobs: DescriptorBlob[] = [];
  for (let at = 0; at < file.length; at += PIECE_BYTES) {
    const iv = ivs[blobs.length]!;
    const blob = encryptPiece(file.subarray(at, at + PIECE_BYTES), key, bytesOf(iv));
    blobs.push({ blobHash: blobHashOf(blob), blobNum: blobs.length, iv, length: blob.length });
  }
  const made = blobs.map(({ blobHash, length }) => [blobHash, length]);
  blobs.push({ blobHash: null, blobNum: blobs.length, iv: ivs[blobs.length]!, length: 0 });
  const streamName = line['file_name'] as string;
  const stream = { streamName, key: key.toString('hex'), suggestedFileName: safeFileName(streamName), blobs };
  const descriptor = { ...stream, streamHash: streamHashOf(stream) };
  const [sd, oldSd] = [descriptorBytes(descriptor), oldDescriptorBytes(descriptor)];
  const bounds = sizeBounds(descriptor);
  return firstOf(
    differs(createHash('sha384').update(file).digest('hex'), line['file_hash']),
    differs(made, line['blobs']),
    differs(descriptor.streamHash, line['stream_hash']),
    differs([sd.toString(), blobHashOf(sd)], [line['sd_json'], line['sd_hash']]),
    differs([oldSd.toString(), blobHashOf(oldSd)], [line['old_sd_json'], line['old_sd_hash']]),
    differs(descriptor.suggestedFileName, line['suggested_file_name']),
    accepted.unless(
      line['bound_error'] !== undefined && bounds.lower === 0 && bounds.upper === 0,
      'bounds without a result',
      differs(bounds, { lower: line['lower_bound'], upper: line['upper_bound'] }),
    ),
    differs([readDescriptor(sd), readDescriptor(oldSd)], [descriptor, descriptor]),
  );
}

function checkDescriptor(line: SdkLine): string | null {
  const bytes = line['hex'] === undefined ? Buffer.from(line['text'] as string) : bytesOf(line['hex']);
  try {
    const read = readDescriptor(bytes);
    return differs(
      [true, read.streamName, read.suggestedFileName, read.streamHash, read.blobs.length],
      [line['ok'], line['stream_name'], line['suggested_file_name'], line['stream_hash'], line['blobs']],
    );
  } catch (error) {
    if (!(error instanceof DaemonError)) return String(error);
    return accepted.unless(
      line['error'] !== undefined && line['error'] !== error.name,
      'descriptor refused by another exception',
      differs([error.name, error.message], [line['error'], line['error_text']]),
    );
  }
}

/** The decrypted data as hex, or the error if the padding is invalid. */
function decrypted(blob: Buffer, line: SdkLine): string {
  try {
    return decryptBlob(blob, bytesOf(line['key']), bytesOf(line['iv'])).toString('hex');
  } catch {
    return 'refused';
  }
}

function checkBlob(line: SdkLine): string | null {
  const blob = encryptPiece(bytesOf(line['data']), bytesOf(line['key']), bytesOf(line['iv']));
  const flipped = Buffer.from(blob);
  flipped[flipped.length - 1]! ^= 1;
  const { data: plain } = line['last_bit_flipped'] as { data?: string };
  return firstOf(
    differs(blob.toString('hex'), line['blob']),
    differs(blobHashOf(blob), line['blob_hash']),
    differs(decrypted(blob, line), line['data']),
    differs(decrypted(flipped, line), plain ?? 'refused'),
  );
}

checkSdkVectors(
  'streams',
  {
    stream: checkStream,
    descriptor: checkDescriptor,
    blob: checkBlob,
    'file name': ({ name, sanitized }) => differs(safeFileName(name as string), sanitized),
    'blob hash': ({ text, valid }) =>
      accepted.unless(
        !isBlobHash(text) && /[,\n]/.test(text as string),
        'blob hash with a comma or a newline',
        differs(isBlobHash(text), valid === true),
      ),
    'media type': (line) => {
      const { mediaType, kind } = mediaTypeOfFile(line['name'] as string);
      return differs(
        [mediaType, kind, streamKindOf(mediaType)],
        [line['media_type'], line['stream_type'], line['stream_type_of_media_type']],
      );
    },
  },
  // Checked in `test/unit/daemon/media/contentType.test.ts`.
  ['content type'],
);

checkAccepted(accepted);
