import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../src/crypto/hash.js';
import { BlockedClaims, type BlockingSource } from '../../../../src/hub/claims/blockedClaims.js';
import type { ClaimRecord, ResolvedUrl } from '../../../../src/index/claims/claimReader.js';
import { hashToHex, type Bytes } from '../../../../src/util/bytes.js';

const idOf = (name: string): Buffer => sha256(Buffer.from(name)).subarray(0, 20);
const claim = (name: string, reposted?: string): ClaimRecord =>
  ({
    claimId: idOf(name),
    name: Buffer.from(name),
    shortUrl: `${name}#1`,
    canonicalUrl: `${name}#1`,
    repostedId: reposted === undefined ? null : idOf(reposted),
  }) as unknown as ClaimRecord;
const found = (own: string, more: Partial<Record<'channel' | 'reposted' | 'repostedChannel', string>> = {}) =>
  ({
    claim: claim(own),
    channel: more.channel ? claim(more.channel) : null,
    reposted: more.reposted ? claim(more.reposted) : null,
    repostedChannel: more.repostedChannel ? claim(more.repostedChannel) : null,
    failure: null,
  }) satisfies ResolvedUrl;

describe('BlockedClaims', () => {
  it("blocks the targets of a channel's reposts, claims signed by a blocked channel, and follows the chain", async () => {
    let reposts = [claim('no', 'bad'), claim('away', '@rogue'), claim('plain')];
    let moment = '1';
    const all = ['@censor', 'bad', '@rogue'].map((name) => claim(name));
    const index = {
      signedBy: () => Promise.resolve(reposts.map(({ claimId }) => claimId)),
      claims: (ids: readonly Bytes[]) =>
        Promise.resolve(
          ids.map(
            (id) => [...all, ...reposts].find(({ claimId }) => Buffer.from(claimId).equals(id)) ?? null,
          ),
        ),
      value: () => Promise.resolve(null),
    } as unknown as BlockingSource;
    const blocked = new BlockedClaims(index, [idOf('@censor')], () => moment);
    const digits = (name: string): string => hashToHex(idOf(name)).slice(0, 10);
    expect(await blocked.of(found('bad'))).toEqual({
      text: `Resolve of 'lbry://bad#1' was blocked by lbry://@censor#${digits('@censor')}/no#${digits('no')}'. Reason given: `,
      channel: all[0],
    });
    for (const hit of [
      found('copy', { reposted: 'bad' }),
      found('@rogue'),
      found('work', { channel: '@rogue' }),
      found('copy', { reposted: 'work', repostedChannel: '@rogue' }),
    ])
      expect(await blocked.of(hit)).not.toBeNull();
    // A claim that is not a channel blocks only itself.
    for (const free of [found('good'), found('plain'), found('good', { channel: 'bad' })])
      expect(await blocked.of(free)).toBeNull();
    reposts = [];
    expect(await blocked.of(found('bad'))).not.toBeNull();
    moment = '2';
    expect(await blocked.of(found('bad'))).toBeNull();
  });

  it('computes again if the chain changed meanwhile', async () => {
    let reposts = [claim('no', 'bad')];
    let moment = '1';
    let goOn = (): void => undefined;
    let isHeld = true;
    const index = {
      signedBy: async () => {
        const signed = reposts.map(({ claimId }) => claimId);
        if (isHeld) await new Promise<void>((resolve) => (goOn = resolve));
        return signed;
      },
      claims: (ids: readonly Bytes[]) =>
        Promise.resolve(
          ids.map(
            (id) =>
              [claim('@censor'), claim('bad'), claim('no', 'bad')].find(({ claimId }) =>
                Buffer.from(claimId).equals(id),
              ) ?? null,
          ),
        ),
      value: () => Promise.resolve(null),
    } as unknown as BlockingSource;
    const blocked = new BlockedClaims(index, [idOf('@censor')], () => moment);
    const first = blocked.of(found('bad'));
    await nextTurn();
    reposts = [];
    moment = '2';
    const second = blocked.of(found('bad'));
    isHeld = false;
    goOn();
    expect(await second).toBeNull();
    expect(await first).toBeNull();
  });
});
