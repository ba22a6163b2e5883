import { describe, expect, it } from 'vitest';
import { supportSums, type SupportSumsDeps } from '../../../src/hub/supportSums.js';
import { chosenClaim } from '../../../src/rpc/nameLookup.js';
import { SupportSigners } from '../../../src/hub/supportSigners.js';
import { Turns } from '../../../src/hub/turns.js';
import type { ClaimRecord } from '../../../src/index/claims/claimReader.js';
import type { Txo } from '../../../src/daemon/txo/txo.js';
import type { NameInfo, OutputInfo } from '../../../src/store/claims/claimQueries.js';
import { hashToHex, toLatin1, type Bytes } from '../../../src/util/bytes.js';
import {
  channel,
  forged,
  otherChannel,
  plainSupport,
  repost,
  signedSupport,
  stream,
  transactions,
} from '../daemon/resolve/claimWorld.js';

const recordOf = (txo: Txo): ClaimRecord =>
  ({
    claimId: txo.claimId!,
    name: Buffer.from(txo.claimName!),
    normalizedName: Buffer.from(txo.normalizedName!),
    shortUrl: `${txo.claimName}#1`,
  }) as unknown as ClaimRecord;

const keyOf = ({ claimId }: Txo): string => toLatin1(claimId!);

function infoOf(support: Txo, amount: bigint): OutputInfo {
  return {
    claimId: support.claimId!,
    txid: support.txid,
    n: support.nout,
    amount,
    height: support.height,
    txOffset: 0,
    validAtHeight: 10,
    active: true,
    name: Buffer.from(support.claimName!),
  };
}

/** A chain of these claims with supports. */
function depsOf(claims: readonly Txo[], supports: readonly (readonly [Txo, bigint])[]) {
  const byId = new Map(claims.map((txo) => [keyOf(txo), txo]));
  const find = (id: Bytes): ClaimRecord | null => {
    const txo = byId.get(toLatin1(id));
    return txo ? recordOf(txo) : null;
  };
  const active = { height: 20, disconnects: 0, at: () => 1 };
  const nameAt = ({ name }: { name: Bytes }): NameInfo =>
    ({
      claims: claims
        .filter(({ claimName }) => claimName === Buffer.from(name).toString())
        .map((txo) => ({
          claimId: txo.claimId!,
          supports: supports.filter(([one]) => keyOf(one) === keyOf(txo)).map((pair) => infoOf(...pair)),
        })),
    }) as unknown as NameInfo;
  const deps: SupportSumsDeps = {
    signers: new SupportSigners(),
    claims: {
      nameAt,
      claimAt: (query, choice) => {
        const info = nameAt(query);
        return { name: query.name, lastTakeoverHeight: 0, claim: chosenClaim(info, choice, false) };
      },
    },
    index: {
      claim: (id) => Promise.resolve(find(id)),
      claims: (ids) => Promise.resolve(ids.map(find)),
      value: (id) => Promise.resolve(byId.get(toLatin1(id))?.read?.values['claim'] ?? null),
      signedBy: () => Promise.resolve([stream, repost].map(({ claimId }) => claimId!)),
    },
    chain: {
      chain: { index: { active } },
      hasData: () => true,
      readTransaction: (_block, { txid }) => {
        const { tx } = transactions.get(hashToHex(txid))!;
        return { tx } as unknown as ReturnType<SupportSumsDeps['chain']['readTransaction']>;
      },
    },
  };
  return { deps, active };
}

const CLAIMS = [channel, otherChannel, stream, repost];
const turn = () => new Turns().enter({});
const shown = async (deps: SupportSumsDeps, id: Bytes, withContent = false): Promise<unknown[]> =>
  (await supportSums(deps, id, withContent, await turn())).map((sum) => [
    Buffer.from(sum.channel.name).toString(),
    sum.amountSat,
    sum.count,
  ]);

describe('sums of supports by channel', () => {
  const supports = [
    [signedSupport(stream, channel), 5n],
    [signedSupport(stream, otherChannel), 9n],
    [signedSupport(stream, channel), 7n],
    [plainSupport(stream), 100n],
    [signedSupport(repost, channel), 1000n],
    // Signed with a key that is not the channel's.
    [signedSupport(stream, otherChannel, Buffer.alloc(32, 9)), 100n],
  ] as const;

  it('count what a channel signed, largest first', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    expect(await shown(deps, stream.claimId!)).toEqual([
      ['@lab', 12n, 2],
      ['@other', 9n, 1],
    ]);
    expect(await shown(deps, channel.claimId!)).toEqual([]);
  });

  it('of a channel count those of its claims where they are wanted', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    expect(await shown(deps, channel.claimId!, true)).toEqual([
      ['@lab', 1012n, 3],
      ['@other', 9n, 1],
    ]);
  });

  it('leave out channels that are gone', async () => {
    const { deps } = depsOf([channel, stream], supports);
    expect(await shown(deps, stream.claimId!)).toEqual([['@lab', 12n, 2]]);
  });

  it('are begun anew where a block went meanwhile', async () => {
    const { deps, active } = depsOf(CLAIMS, supports);
    let reads = 0;
    const chain: SupportSumsDeps['chain'] = {
      ...deps.chain,
      readTransaction: (...args) => {
        if (reads++ > 0) return deps.chain.readTransaction(...args);
        active.disconnects++;
        throw new Error('another block');
      },
    };
    expect(await shown({ ...deps, chain }, stream.claimId!)).toHaveLength(2);
    const broken = { ...deps.chain, readTransaction: () => Promise.reject(new Error('damaged')) };
    const unread = { ...deps, chain: broken, signers: new SupportSigners() };
    await expect(shown(unread, stream.claimId!)).rejects.toThrow('damaged');
  });

  it('say where there is no such claim', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    await expect(shown(deps, forged.claimId!)).rejects.toThrow(
      `Could not find claim at ${hashToHex(forged.claimId!)}`,
    );
  });

  it('read each transaction once, and none again', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    let reads = 0;
    const chain: SupportSumsDeps['chain'] = {
      ...deps.chain,
      readTransaction: (...args) => {
        reads++;
        return deps.chain.readTransaction(...args);
      },
    };
    const first = await shown({ ...deps, chain }, stream.claimId!);
    const transactions = new Set(
      supports.filter(([one]) => keyOf(one) === keyOf(stream)).map(([one]) => hashToHex(one.txid)),
    );
    expect(reads).toBe(transactions.size);
    expect(await shown({ ...deps, chain }, stream.claimId!)).toEqual(first);
    expect(reads).toBe(transactions.size);
  });

  it('count by the present key of a channel, and none while it has none', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    const first = await shown(deps, stream.claimId!);
    const keyless = { ...deps, index: { ...deps.index, value: () => Promise.resolve(null) } };
    expect(await shown(keyless, stream.claimId!)).toEqual([]);
    // Of the other channel: with it none of the signatures of the first holds.
    const other = await deps.index.value(otherChannel.claimId!);
    const exchanged = { ...deps, index: { ...deps.index, value: () => Promise.resolve(other) } };
    expect(await shown(exchanged, stream.claimId!)).toEqual([['@other', 9n, 1]]);
    expect(await shown(deps, stream.claimId!)).toEqual(first);
  });

  it('try again where a block was not there', async () => {
    const { deps } = depsOf(CLAIMS, supports);
    const gone = { ...deps, chain: { ...deps.chain, hasData: () => false } };
    expect(await shown(gone, stream.claimId!)).toEqual([]);
    expect(await shown(deps, stream.claimId!)).toHaveLength(2);
    expect(deps.signers.size).toBeGreaterThan(0);
  });
});
