/**
 * A naive claim index: each block has a copy of all claims after it. Blocks with random claims, updates, supports, reposts and
 * abandoned claims can be connected and disconnected.
 */
import { create } from '@bufbuild/protobuf';
import { ClaimChangesGoneError } from '../../src/index/claims/claimIndexQueries.js';
import type {
  BlockClaimChanges,
  ClaimIndexReader,
  ClaimRecord,
  ClaimWithValue,
} from '../../src/index/claims/claimReader.js';
import { encodeClaim } from '../../src/metadata/claim.js';
import { parseLanguage } from '../../src/metadata/languages.js';
import { parseLocation } from '../../src/metadata/locations.js';
import { ClaimSchema, Fee_Currency } from '../../src/metadata/messages/claim_pb.js';
import type { ClaimMetadata } from '../../src/search/document/document.js';
import type { FollowedChain } from '../../src/search/follow/followedClaims.js';
import { MODEL_PLACES, Random, keyOf, randomClaims } from './claimSearchModel.js';

interface FakeClaim {
  readonly record: ClaimRecord;
  readonly value: Buffer;
}

interface FakeBlock {
  readonly hash: string;
  readonly claims: ReadonlyMap<string, FakeClaim>;
  readonly changes: BlockClaimChanges;
}

/** The value of a claim with this metadata. */
export function valueOf(metadata: ClaimMetadata): Buffer {
  const { stream } = metadata;
  const type =
    metadata.kind === 'stream'
      ? {
          case: 'stream' as const,
          value: {
            author: stream!.author,
            releaseTime: stream!.releaseTimeSec,
            ...(stream!.source && {
              source: { mediaType: stream!.source.mediaType, sdHash: stream!.source.sdHash },
            }),
            ...(stream!.fee && {
              fee: {
                currency: Fee_Currency[stream!.fee.currency ?? 'UNKNOWN_CURRENCY'],
                amount: stream!.fee.amount,
              },
            }),
            ...(stream!.durationSec > 0 && {
              type: {
                case: 'video' as const,
                value: { duration: stream!.durationSec, width: stream!.width, height: stream!.height },
              },
            }),
          },
        }
      : metadata.kind === 'channel'
        ? { case: 'channel' as const, value: { publicKey: Buffer.alloc(33, 2) } }
        : { case: metadata.kind, value: {} };
  const claim = create(ClaimSchema, {
    title: metadata.title,
    description: metadata.description,
    tags: [...metadata.tags],
    languages: metadata.languages.filter((one) => one !== 'none').map(parseLanguage),
    locations: metadata.locations.map(parseLocation),
    type: type as never,
  });
  return encodeClaim({ channelId: metadata.channelId, signature: metadata.signature, claim });
}

export class FakeClaimIndex implements ClaimIndexReader, FollowedChain {
  readonly isSynced = true;
  /** Number of blocks whose changes are stored. */
  knownBlocks = Infinity;
  disconnects = 0;
  private readonly random: Random;
  private readonly blocks: FakeBlock[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  get height(): number {
    return this.blocks.length - 1;
  }

  /** All claims whose amount changed, by block, up to the tip. */
  get allTrending(): readonly BlockClaimChanges['trending'][] {
    return this.blocks.map(({ changes }) => changes.trending);
  }

  get records(): ClaimRecord[] {
    return [...(this.blocks.at(-1)?.claims.values() ?? [])].map(({ record }) => record);
  }

  /** Connects a block of up to `operations` operations. */
  mine(operations: number): void {
    const { random } = this;
    const height = this.blocks.length;
    const former = this.blocks.at(-1)?.claims ?? new Map<string, FakeClaim>();
    const claims = new Map(former);
    const spent = new Set<string>();
    for (let n = random.below(operations + 1); n > 0; n--) {
      const ids = [...claims.keys()].filter((id) => !spent.has(id));
      const draw = random.next();
      const id = ids.length === 0 ? null : random.pick(ids);
      if (id === null || draw < 0.5) this.create(claims, height, n);
      else if (draw < 0.65) this.update(claims, id, height, n);
      else if (draw < 0.85) this.support(claims, id);
      else {
        claims.delete(id);
        spent.add(id);
      }
    }
    this.blocks.push({ hash: keyOf(random.bytes(32)), claims, changes: this.compare(former, claims) });
  }

  takeBack(blocks: number): void {
    this.disconnects += Math.min(blocks, this.blocks.length);
    this.blocks.length = Math.max(0, this.blocks.length - blocks);
  }

  private create(claims: Map<string, FakeClaim>, height: number, n: number): void {
    const { random } = this;
    const made = randomClaims(random, 2)[1]!;
    const channels = [...claims.values()].filter(({ record }) => record.kind === 'channel');
    const signer = channels.length > 0 && random.chance(0.5) ? random.pick(channels).record.claimId : null;
    const metadata: ClaimMetadata = {
      ...made.metadata,
      languages: made.metadata.languages.filter((one) => one !== 'none'),
      channelId: signer,
      signature: signer === null ? null : random.bytes(64),
    };
    const isRepost = metadata.kind === 'repost' && claims.size > 0;
    const record: ClaimRecord = {
      ...made.record,
      height,
      position: n,
      creationHeight: height,
      creationPosition: n,
      nout: 0,
      creationNout: 0,
      channelId: signer,
      isSignatureValid: signer !== null,
      repostedId: isRepost ? random.pick([...claims.values()]).record.claimId : null,
    };
    const value = random.chance(0.1) ? Buffer.from('nothing') : valueOf(metadata);
    claims.set(keyOf(record.claimId), { record, value });
  }

  private update(claims: Map<string, FakeClaim>, id: string, height: number, n: number): void {
    const { record } = claims.get(id)!;
    const { metadata } = randomClaims(this.random, 1)[0]!;
    const kind = record.kind as ClaimMetadata['kind'];
    const stream = metadata.stream ?? {
      author: '',
      source: null,
      fee: null,
      durationSec: 0,
      width: 0,
      height: 0,
      releaseTimeSec: 0n,
    };
    const value = this.random.chance(0.1)
      ? Buffer.from('nothing')
      : valueOf({ ...metadata, kind, stream, channelId: null, signature: null, languages: [] });
    const latter = {
      ...record,
      height,
      position: n,
      txid: this.random.bytes(32),
      channelId: null,
      isSignatureValid: false,
    };
    claims.set(id, { record: latter, value });
  }

  private support(claims: Map<string, FakeClaim>, id: string): void {
    const { record, value } = claims.get(id)!;
    const supportAmountSat = BigInt(this.random.below(20)) * 100_000_000n;
    const effectiveAmountSat = record.amountSat + supportAmountSat;
    claims.set(id, { record: { ...record, supportAmountSat, effectiveAmountSat }, value });
  }

  private compare(
    former: ReadonlyMap<string, FakeClaim>,
    latter: ReadonlyMap<string, FakeClaim>,
  ): BlockClaimChanges {
    const changed = [...latter]
      .filter(([id, claim]) => former.get(id) !== claim)
      .map(([, claim]) => claim.record);
    const deleted = [...former].filter(([id]) => !latter.has(id)).map(([, { record }]) => record.claimId);
    const rewritten = new Set(
      [...latter].filter(([id, { value }]) => former.get(id)?.value !== value).map(([id]) => id),
    );
    for (const id of deleted) rewritten.add(keyOf(id));
    const reposts = [...latter.values()].filter(
      ({ record: { repostedId } }) => repostedId !== null && rewritten.has(keyOf(repostedId)),
    );
    const touched = new Set([...changed, ...reposts.map(({ record }) => record)]);
    return {
      touched: [...touched].map(({ claimId }) => claimId),
      deleted,
      trending: changed.map(({ claimId, effectiveAmountSat }) => ({
        claimId,
        formerSat: former.get(keyOf(claimId))?.record.effectiveAmountSat ?? 0n,
        latterSat: effectiveAmountSat,
      })),
    };
  }

  async claim(claimId: Uint8Array): Promise<ClaimRecord | null> {
    return this.blocks.at(-1)?.claims.get(keyOf(claimId))?.record ?? null;
  }

  claims(claimIds: readonly Uint8Array[]): Promise<(ClaimRecord | null)[]> {
    return Promise.all(claimIds.map((id) => this.claim(id)));
  }

  async value(claimId: Uint8Array): Promise<Uint8Array | null> {
    return this.blocks.at(-1)?.claims.get(keyOf(claimId))?.value ?? null;
  }

  claimsWithValues(claimIds: readonly Uint8Array[]): Promise<(ClaimWithValue | null)[]> {
    return Promise.all(
      claimIds.map(async (id) => {
        const claim = await this.claim(id);
        if (claim === null) return null;
        const repostedValue = claim.repostedId === null ? null : await this.value(claim.repostedId);
        return { claim, value: await this.value(id), repostedValue };
      }),
    );
  }

  async resolve(): Promise<never> {
    throw new Error('not asked for');
  }

  async claimsByUrl(): Promise<never> {
    throw new Error('not asked for');
  }

  async changes(height: number): Promise<BlockClaimChanges> {
    if (height <= this.height - this.knownBlocks) throw new ClaimChangesGoneError('gone');
    const { changes } = this.blocks[height]!;
    const { claims } = this.blocks.at(-1)!;
    return { ...changes, touched: changes.touched.filter((id) => claims.has(keyOf(id))) };
  }

  async trending(from: number, to: number): Promise<Map<number, BlockClaimChanges['trending']>> {
    const found = new Map<number, BlockClaimChanges['trending']>();
    for (let height = from; height <= to; height++) {
      const { trending } = this.blocks[height]!.changes;
      if (trending.length > 0) found.set(height, trending);
    }
    return found;
  }

  async *allClaims(after: Uint8Array | null): AsyncGenerator<ClaimWithValue[]> {
    const sorted = this.records.sort((a, b) => Buffer.compare(a.claimId, b.claimId));
    const ids = sorted.map(({ claimId }) => claimId);
    const rest = after === null ? ids : ids.filter((id) => Buffer.compare(id, after) > 0);
    for (let at = 0; at < rest.length; at += 7) {
      const claims = await this.claimsWithValues(rest.slice(at, at + 7));
      yield claims.filter((claim) => claim !== null);
    }
  }

  hashAt(height: number): string | null {
    return this.blocks[height]?.hash ?? null;
  }

  transactionsBelow(height: number): number {
    return MODEL_PLACES.txNum(height * 10, 0);
  }

  timeSec(height: number): number {
    return MODEL_PLACES.timeSec(height);
  }
}
