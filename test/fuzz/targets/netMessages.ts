/**
 * Fuzz target: bytes from a peer. A stream of messages (valid, changed, truncated, noise), sometimes corrupted as a whole, is
 * read by the frame reader, and each payload is parsed by its codec and by the code that uses the result.
 */
import { isDeepStrictEqual } from 'node:util';
import { provedTransactions } from '../../../src/consensus/partialMerkleTree.js';
import { BloomFilter, isWithinFilterLimits } from '../../../src/net/bloom/bloomFilter.js';
import { PartialBlock, pickTransactions } from '../../../src/net/compact/compactBlock.js';
import { formatFrame, FrameError, FrameReader, type Frame } from '../../../src/net/framing.js';
import { formatPayload, parsePayload, type MessageCodec } from '../../../src/net/messages/codec.js';
import { isCommand, MESSAGES, type Command, type Payload } from '../../../src/net/messages/table.js';
import {
  addressKey,
  formatHost,
  formatNetAddress,
  groupOf,
  isInternal,
  networkOf,
  parseHost,
  parseNetAddress,
  reachabilityScore,
} from '../../../src/net/netAddress.js';
import { wtxidAt } from '../../../src/primitives/blockView.js';
import { ReadError } from '../../../src/util/reader.js';
import { Random } from '../../differential/support.js';
import { law, outcomeOf, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';
import { anyBlock, randomMessage, type SentMessage } from '../support/netMessages.js';

const MAGIC = Buffer.from('fae4aad1', 'hex');

export interface Stream {
  readonly bytes: Buffer;
  /** Sizes of the chunks in which the stream arrives, repeated as often as needed. */
  readonly chunkSizes: readonly number[];
  /** The sent messages, if only payloads were corrupted. */
  readonly sent:
    readonly { readonly command: string; readonly payload: Buffer; readonly isSound: boolean }[] | null;
}

/** Numbers of messages by command and outcome, over all streams. */
export type Tally = Map<string, number>;

function corruptPayload(random: Random, { payload }: SentMessage): Buffer {
  switch (random.below(8)) {
    case 0:
      return payload.subarray(0, random.below(payload.length + 1));
    case 1:
      return noise(random, 300);
    case 2:
      return Buffer.concat([payload, random.bytes(random.below(10))]);
    default:
      return mutateBytes(random, payload, randomMessage(random).payload);
  }
}

/** A frame with an unknown or malformed command, or a header with a payload length that is too large. */
function strangeFrame(random: Random): Buffer {
  const command = random.pick(['constructor', '__proto__', 'x', '', 'pi\0ng', '\xff\xfe', 'abcdefghijkl']);
  const frame = formatFrame(MAGIC, command, random.bytes(random.below(30)));
  if (random.chance(4)) frame.writeUInt32LE(random.pick([4_000_001, 0xffffffff, 0x80000000, 4_000_000]), 16);
  if (random.chance(4)) frame[random.below(24)]! ^= 1 << random.below(8);
  return frame;
}

function makeStream(random: Random): Stream {
  const sent = Array.from({ length: 1 + random.below(6) }, () => {
    const message = randomMessage(random);
    const isSound = random.chance(3);
    return {
      command: message.command,
      payload: isSound ? message.payload : corruptPayload(random, message),
      isSound,
    };
  });
  const chunkSizes = Array.from({ length: 1 + random.below(4) }, () =>
    random.pick([1, 2, 23, 24, 25, 100, 1023, 1024, 4000, 1 + random.below(9000)]),
  );
  const frames = sent.map(({ command, payload }) => formatFrame(MAGIC, command, payload));
  if (!random.chance(5)) return { bytes: Buffer.concat(frames), chunkSizes, sent };
  frames.splice(random.below(frames.length + 1), 0, strangeFrame(random));
  const bytes = Buffer.concat(frames);
  return { bytes: random.chance(2) ? bytes : mutateBytes(random, bytes), chunkSizes, sent: null };
}

interface Reading {
  readonly frames: readonly Frame[];
  /** Why the stream ended early, or null. */
  readonly reason: string | null;
}

function read(chunks: Iterable<Buffer>): Reading {
  const reader = new FrameReader(MAGIC);
  const frames: Frame[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (;;) {
      const { value, error } = outcomeOf(() => reader.next(), FrameError);
      if (error) return { frames, reason: error.reason };
      if (value === null) break;
      frames.push(value);
    }
  }
  return { frames, reason: null };
}

function* chunksOf({ bytes, chunkSizes }: Stream): Generator<Buffer> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = chunkSizes[i % chunkSizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Further invariants of a message by command. All messages are also serialized and parsed again. */
const NEXT: { readonly [C in Command]?: (value: Payload<C>) => void } = {
  addr: ({ addresses }) => {
    for (const { address } of addresses) {
      const printed = formatNetAddress(address);
      const again =
        address.port === 0 ? { ip: parseHost(formatHost(address)), port: 0 } : parseNetAddress(printed, 0);
      law(isInternal(address) || isDeepStrictEqual(again, address), () => `${printed} reads back`);
      law(networkOf(address) !== undefined && groupOf(address).length <= 11, 'network and group');
      law(addressKey(address).length === 18 && formatHost(address).length > 1, 'key and host');
      const score = reachabilityScore(address, addresses[0]!.address);
      law(score >= 0 && score <= 6, 'reachability');
    }
  },
  getblocktxn: ({ indexes }) => {
    law(
      indexes.every((index, i) => index <= 0xffff && index > (indexes[i - 1] ?? -1)),
      'indexes ascend',
    );
  },
  cmpctblock: (message) => {
    const begun = PartialBlock.begin(message);
    if (begun.status !== 'ok') return;
    const { partial } = begun;
    const block = anyBlock(new Random(message.shortIds.length));
    const all = Array.from({ length: block.parsed.txCount }, (_, i) => i);
    const raws = pickTransactions(block, all, true)!;
    partial.fill(raws.map((bytes, i) => ({ wtxid: wtxidAt(block.parsed, i), bytes })));
    const { prefilled, found, total } = partial.counts;
    const missing = partial.missing();
    law(prefilled + found + missing.length === total, 'every place is filled or missing');
    const result = partial.complete(missing.map((i) => raws[i % raws.length]!));
    if (result.status === 'ok')
      law(result.block.raw.subarray(0, 112).equals(message.header), 'header of the block');
  },
  filterload: (message) => {
    if (!isWithinFilterLimits(message)) return;
    const filter = BloomFilter.parse(message);
    const { raw, parsed } = anyBlock(new Random(message.tweak));
    for (let tx = 0; tx < parsed.txCount; tx++) filter.isRelevantAndUpdate(raw, parsed, tx);
    filter.insert(message.data);
    law(filter.contains(message.data), 'what was inserted is contained');
    law(filter.format().data.length === message.data.length, 'the size stays');
  },
  merkleblock: ({ tree }) => {
    const proved = provedTransactions(tree);
    law(proved === null || proved.txids.length <= tree.hashes.length, 'no more is proved than was sent');
  },
};

/** Parses one payload. If it is valid, it is serialized and parsed again with the same result. */
function checkPayload(command: Command, payload: Buffer): { outcome: string; written: Buffer | null } {
  const codec = MESSAGES[command] as MessageCodec<unknown>;
  const { value, error } = outcomeOf(() => parsePayload(codec, payload), ReadError);
  if (error) return { outcome: 'refused', written: null };
  const tooMany = command === 'headers' && (value as Payload<'headers'>).tooMany !== undefined;
  const written = tooMany ? payload : Buffer.from(formatPayload(codec, value));
  // Fields that a short version message omits are written.
  law(written.length <= payload.length || command === 'version', () => `${command} grows by being written`);
  law(isDeepStrictEqual(parsePayload(codec, written), value), () => `${command} reads back`);
  (NEXT[command] as ((value: unknown) => void) | undefined)?.(value);
  return { outcome: 'read', written };
}

function sameFrames(a: Reading, b: Reading): boolean {
  return a.reason === b.reason && isDeepStrictEqual(a.frames, b.frames);
}

function checkStream(stream: Stream, tally: Tally): string {
  const reading = read(chunksOf(stream));
  law(sameFrames(reading, read([stream.bytes])), 'chunks make no difference');
  const { sent } = stream;
  if (sent) law(reading.reason === null && reading.frames.length === sent.length, 'what was sent comes');
  for (const [i, { command, payload, checksumOk }] of reading.frames.entries()) {
    const original = sent?.[i];
    if (original)
      law(checksumOk && command === original.command && payload.equals(original.payload), 'frame');
    const known = checksumOk && isCommand(command);
    const { outcome, written } = known
      ? checkPayload(command, payload)
      : { outcome: 'ignored', written: null };
    if (original?.isSound)
      law(written?.equals(payload) === true, () => `${command} is written as it was sent`);
    const name = `${known ? command : '*'} ${outcome}`;
    tally.set(name, (tally.get(name) ?? 0) + 1);
  }
  return reading.reason ?? (sent ? 'whole' : 'damaged');
}

/** Counts messages in `tally`; its own outcomes are those of streams. */
export function netMessagesTarget(tally: Tally): Target<Stream> {
  return {
    name: 'messages',
    make: makeStream,
    check: (stream) => checkStream(stream, tally),
    show: ({ bytes, chunkSizes }) => `chunks of ${chunkSizes.join(', ')}: ${bytes.toString('hex')}`,
  };
}
