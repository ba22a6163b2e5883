/**
 * Values of claims: messages that every client can decode, with the sizes of values on the main network. A few messages are
 * created for each size. For each claim a message is copied, and the claim's own hash or key is inserted into the copy.
 */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { encodeClaim } from '../../metadata/claim.js';
import { openEnvelope, sealEnvelope } from '../../metadata/envelope.js';
import { ClaimSchema } from '../../metadata/messages/claim_pb.js';
import { assert } from '../../util/assert.js';
import { asBuffer, type Bytes } from '../../util/bytes.js';
import type { Draw } from './draw.js';
import type { Names } from './names.js';
import { REPOST_ONE_IN, STREAM_VALUE_SIZES } from './proportions.js';

/** Size in bytes of the part of a signed value before its message: a type byte, the channel's id and the signature. */
const SIGNED_HEAD_SIZE = 85;
/** Number of different messages of each size. Arbitrary. */
const TEXTS_A_SIZE = 8;
const SD_HASH_SIZE = 48;
const CLAIM_ID_SIZE = 20;
const KEY_SIZE = 33;
/** Placeholder byte for a hash or key in a template; it does not occur in texts. */
const PLACE = 0xf5;

/** A message in which placeholder bytes mark a position. They are replaced by data of each claim. */
interface Template {
  readonly message: Buffer;
  readonly at: number;
  readonly size: number;
}

type ClaimParts = MessageInitShape<typeof ClaimSchema>;

function templateOf(claim: ClaimParts, size: number): Template {
  const value = encodeClaim({ channelId: null, signature: null, claim: create(ClaimSchema, claim) });
  const message = asBuffer(openEnvelope(value)!.message);
  const at = message.indexOf(Buffer.alloc(size, PLACE));
  assert(at >= 0, 'a template lacks its place');
  return { message, at, size };
}

export class Values {
  private readonly draw: Draw;
  private readonly streams: readonly Template[];
  private readonly reposts: Template;
  private readonly channels: Template;

  constructor(draw: Draw, names: Names) {
    this.draw = draw;
    this.streams = STREAM_VALUE_SIZES.flatMap((size) =>
      Array.from({ length: TEXTS_A_SIZE }, () => this.streamOf(size, names)),
    );
    const claimHash = Buffer.alloc(CLAIM_ID_SIZE, PLACE);
    this.reposts = templateOf({ type: { case: 'repost', value: { claimHash } } }, CLAIM_ID_SIZE);
    const publicKey = Buffer.alloc(KEY_SIZE, PLACE);
    const title = `${names.word()} ${names.word()} ${names.word()}`;
    const description = Array.from({ length: 18 }, () => names.word()).join(' ');
    this.channels = templateOf(
      { title, description, type: { case: 'channel', value: { publicKey } } },
      KEY_SIZE,
    );
  }

  /** Creates a stream message whose signed value has approximately this size. */
  private streamOf(size: number, names: Names): Template {
    const { draw } = this;
    const source = {
      hash: Buffer.alloc(SD_HASH_SIZE, 1 + draw.below(200)),
      sdHash: Buffer.alloc(SD_HASH_SIZE, PLACE),
      mediaType: 'video/mp4',
      name: `${names.word()}.mp4`,
      size: BigInt(1_000_000 + draw.below(1e9)),
    };
    const releaseTime = BigInt(1_480_000_000 + draw.below(2e8));
    const video = { case: 'video', value: { width: 1280, height: 720, duration: draw.below(7200) } } as const;
    const type = { case: 'stream', value: { source, releaseTime, type: video } } as const;
    const title = `${names.word()} ${names.word()}`;
    const without = templateOf({ title, type }, SD_HASH_SIZE).message.length;
    let description = '';
    while (without + description.length + SIGNED_HEAD_SIZE + 4 < size) description += `${names.word()} `;
    return templateOf({ title, description, type }, SD_HASH_SIZE);
  }

  /** Creates the message of a stream or, in some cases, of a repost of the claim `reposted`. */
  claim(reposted: Bytes | null): Buffer {
    if (reposted !== null && this.draw.oneIn(REPOST_ONE_IN)) return filled(this.reposts, reposted);
    const template = this.draw.of(this.streams);
    const message = Buffer.from(template.message);
    this.draw.fill(message, template.at, template.at + template.size);
    return message;
  }

  /** Creates the message of a channel with this public key (33 bytes). */
  channel(publicKey: Bytes): Buffer {
    return filled(this.channels, publicKey);
  }
}

function filled({ message, at }: Template, bytes: Bytes): Buffer {
  const copy = Buffer.from(message);
  copy.set(bytes, at);
  return copy;
}

/** Creates the value of a claim from its message, with or without the signature of a channel. */
export function sealed(message: Bytes, signed: { channelId: Bytes; signature: Bytes } | null): Buffer {
  return sealEnvelope(signed ?? { channelId: null, signature: null }, message);
}
