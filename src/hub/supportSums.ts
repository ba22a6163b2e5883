/**
 * What channels gave for a claim: its unspent supports whose data a channel signed, summed up by channel. There is no index
 * of it: the supports come from the claim trie, and what signs them from their outputs (`supportSigners.ts`).
 */
import type { ChainReader } from '../chain/chainReader.js';
import type { ClaimIndexQueries } from '../index/claims/claimIndexQueries.js';
import type { ClaimRecord } from '../index/claims/claimReader.js';
import { channelPublicKey } from '../metadata/channelSignature.js';
import { decodeClaim } from '../metadata/claim.js';
import { MetadataError } from '../metadata/metadataError.js';
import type { ClaimReader } from '../rpc/claimReader.js';
import type { OutputInfo } from '../store/claims/claimQueries.js';
import { hashToHex, toLatin1, type Bytes } from '../util/bytes.js';
import { notThere } from './hubError.js';
import type { SupportSigners } from './supportSigners.js';
import type { Turn } from './turns.js';

/** Claims of a channel, and supports of all of them, that are looked at in one call. Arbitrary: a second or two of work. */
const MAX_CLAIMS = 10_000;
const MAX_SUPPORTS = 50_000;

export interface SupportSumsDeps {
  readonly signers: SupportSigners;
  readonly claims: Pick<ClaimReader, 'nameAt' | 'claimAt'>;
  readonly index: Pick<ClaimIndexQueries, 'claim' | 'claims' | 'value' | 'signedBy'>;
  readonly chain: Pick<ChainReader, 'hasData' | 'readTransaction'> & {
    readonly chain: { readonly index: { readonly active: ActiveBlocks } };
  };
}

interface ActiveBlocks {
  readonly height: number;
  readonly disconnects: number;
  at(height: number): number;
}

export interface ChannelSum {
  /** A channel that lives. */
  readonly channel: ClaimRecord;
  readonly amountSat: bigint;
  readonly count: number;
}

/**
 * Largest first; equals by channel id. `withContent` adds the supports of the claims that the claim, a channel, signed.
 * Throws `HubError` where there is no such claim, or too much to look at.
 */
export async function supportSums(
  deps: SupportSumsDeps,
  claimId: Bytes,
  withContent: boolean,
  turn: Turn,
): Promise<ChannelSum[]> {
  const { active } = deps.chain.chain.index;
  for (;;) {
    const { disconnects } = active;
    try {
      return await new Summing(deps, turn).run(claimId, withContent);
    } catch (error) {
      // What was read may have been of a block that went meanwhile.
      if (active.disconnects === disconnects) throw error;
    }
  }
}

class Summing {
  readonly #deps: SupportSumsDeps;
  readonly #turn: Turn;

  constructor(deps: SupportSumsDeps, turn: Turn) {
    this.#deps = deps;
    this.#turn = turn;
  }

  async run(claimId: Bytes, withContent: boolean): Promise<ChannelSum[]> {
    const { index } = this.#deps;
    const claim = await index.claim(claimId);
    if (claim === null) throw notThere(`Could not find claim at ${hashToHex(claimId)}`);
    const content = withContent ? await index.signedBy(claimId) : [];
    if (content.length > MAX_CLAIMS) throw notThere(`The channel has more than ${MAX_CLAIMS} claims`);
    const supports = await this.#supportsOf([claim, ...(await index.claims(content))]);
    const sums = new Map<string, { id: Bytes; amountSat: bigint; count: number }>();
    const keyOf = async (channelId: Bytes): Promise<Bytes | null> => keyIn(await index.value(channelId));
    const { signers, chain } = this.#deps;
    const ids = await signers.of({ chain, keyOf }, supports, this.#turn);
    for (const [n, { amount }] of supports.entries()) {
      const id = ids[n]!;
      if (id === null) continue;
      const key = toLatin1(id);
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { id, amountSat: amount, count: 1 });
      else {
        sum.amountSat += amount;
        sum.count++;
      }
    }
    const found = [...sums.values()];
    const channels = await index.claims(found.map(({ id }) => id));
    return found
      .flatMap(({ amountSat, count }, n) => {
        const channel = channels[n] ?? null;
        return channel === null ? [] : [{ channel, amountSat, count }];
      })
      .sort((a, b) => Number(b.amountSat - a.amountSat) || (idText(a) < idText(b) ? -1 : 1));
  }

  /** The supports of the claims, active or not. */
  async #supportsOf(claims: readonly (ClaimRecord | null)[]): Promise<OutputInfo[]> {
    const { height } = this.#deps.chain.chain.index.active;
    const present = claims.filter((claim) => claim !== null);
    const [only] = present;
    if (only !== undefined && present.length === 1) {
      const query = { name: only.name, height };
      const { claim } = await this.#deps.claims.claimAt(query, { claimId: only.claimId });
      return this.#bounded(claim?.supports ?? []);
    }
    const wanted = new Set(present.map((claim) => toLatin1(claim.claimId)));
    const names = new Map(present.map(({ name, normalizedName }) => [toLatin1(normalizedName), name]));
    const supports: OutputInfo[] = [];
    for (const name of names.values()) {
      const { claims: ofName } = await this.#deps.claims.nameAt({ name, height });
      for (const claim of ofName)
        if (wanted.has(toLatin1(claim.claimId))) for (const one of claim.supports) supports.push(one);
      this.#bounded(supports);
      const breath = this.#turn.breathe();
      if (breath !== null) await breath;
    }
    return supports;
  }

  #bounded(supports: OutputInfo[]): OutputInfo[] {
    if (supports.length > MAX_SUPPORTS) throw notThere(`There are more than ${MAX_SUPPORTS} supports`);
    return supports;
  }
}

const idText = ({ channel }: ChannelSum): string => hashToHex(channel.claimId);

function keyIn(value: Bytes | null): Bytes | null {
  const type = value && orNull(() => decodeClaim(value))?.claim.type;
  return type?.case === 'channel' ? channelPublicKey(type.value.publicKey) : null;
}

function orNull<Result>(run: () => Result): Result | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof MetadataError) return null;
    throw error;
  }
}
