/** The keys of the signatures of many claims, compared with what lbry-sdk finds of each, with the addon and without it. */
import { describe, expect, it, vi } from 'vitest';
import { fallbackEcdsa } from '../../../../src/crypto/ecdsaFallback.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { keyTag } from '../../../../src/index/claims/claimIndexKeys.js';
import type { ClaimOutputInBlock } from '../../../../src/index/claims/claimOutputs.js';
import { findKeys, readSignature, recoverSigners } from '../../../../src/index/claims/claimSignatures.js';
import { isChannelSignatureValid } from '../../../../src/metadata/channelSignature.js';
import { readClaimFacts } from '../../../../src/metadata/claimFacts.js';
import * as binding from '../../../../src/native/binding.js';
import { mainParams } from '../../../../src/params/main.js';
import { addressPrefixesOf, decodeDestination } from '../../../../src/script/address.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { fromHex, type Bytes } from '../../../../src/util/bytes.js';
import { recordedLines } from '../../../support/claimChain.js';

/** A claim output and the key of the channel that it names. */
interface SignedOutput {
  readonly output: ClaimOutputInBlock;
  readonly publicKey: Bytes | null;
}

const findSigners = (claims: readonly SignedOutput[], params: typeof mainParams): Promise<string[][]> =>
  findKeys(claims.map(({ output, publicKey }) => ({ signature: readSignature(output, params), publicKey })));

interface Recorded {
  kind: string;
  raw: string;
  signed?: { channel_key: string; outpoint: string; address: string; valid: boolean | string };
}

/** Every `step`-th recorded claim with a signature. */
function recorded(step = 1): { signed: SignedOutput[]; valid: boolean[] } | null {
  const lines = recordedLines('sdk/claims.jsonl.gz');
  if (lines === null) return null;
  const outputs: SignedOutput[] = [];
  const valid: boolean[] = [];
  let count = 0;
  for (const line of lines) {
    const { kind, raw, signed } = JSON.parse(line) as Recorded;
    if (!signed || kind === 'support' || count++ % step > 0) continue;
    const value = fromHex(raw);
    const destination = decodeDestination(signed.address, addressPrefixesOf(mainParams))!;
    outputs.push({
      publicKey: fromHex(signed.channel_key),
      output: {
        position: 1,
        nout: 0,
        value,
        facts: readClaimFacts(value),
        publicKey: null,
        script: scriptForDestination(destination),
        firstInput: fromHex(signed.outpoint),
      },
    });
    valid.push(signed.valid === true);
  }
  return { signed: outputs, valid };
}

it('verifies larger numbers on other threads, in batches', async ({ skip }) => {
  const claims = recorded();
  if (claims === null || binding.loadNative() === null) return skip('no claims, or no addon');
  const { ecdsa } = binding.loadNative()!;
  const here = vi.spyOn(ecdsa, 'verifyMany');
  const aside = vi.spyOn(ecdsa, 'verifyManyAside');
  try {
    const signed = Array.from({ length: 150 }, (_, i) => claims.signed[i % claims.signed.length]!);
    await findSigners(signed, mainParams);
    expect(here).not.toHaveBeenCalled();
    expect(aside).toHaveBeenCalledTimes(3);
    await findSigners(signed.slice(0, 2), mainParams);
    expect(here).toHaveBeenCalledTimes(1);
    expect(aside).toHaveBeenCalledTimes(3);
  } finally {
    here.mockRestore();
    aside.mockRestore();
  }
});

/** Without the addon a claim takes thirty times as long. Then every fifth claim is verified, and every one with `LBCNODE_FULL=1`. */
const FALLBACK_STEP = process.env['LBCNODE_FULL'] === '1' ? 1 : 5;

describe.each(['with the addon', 'without it'])('findSigners %s', (how) => {
  it('returns the results of lbry-sdk, also for claims of 2017', async ({ skip }) => {
    const claims = recorded(how === 'without it' ? FALLBACK_STEP : 1);
    if (claims === null) return skip('shared/conformance/sdk is not there');
    const spy = how === 'without it' ? vi.spyOn(binding, 'loadNative').mockReturnValue(null) : null;
    try {
      const tags = claims.signed.map(({ publicKey }) => keyTag(publicKey!));
      const known = await findSigners(claims.signed, mainParams);
      expect(known.map((signers, i) => signers.includes(tags[i]!))).toEqual(claims.valid);
      known.forEach((signers, i) => claims.valid[i] && expect(signers).toEqual([tags[i]]));
      // For a channel that is not known yet, the key is among the recovered ones.
      const strange = claims.signed.map((one) => ({ ...one, publicKey: null }));
      const recovered = await findSigners(strange, mainParams);
      expect(recovered.map((signers, i) => signers.includes(tags[i]!))).toEqual(claims.valid);
      if (spy !== null) expect(spy).toHaveBeenCalled();
    } finally {
      spy?.mockRestore();
    }
    const least = how === 'without it' ? 30 : 50;
    expect(claims.valid.filter(Boolean).length).toBeGreaterThan(least);
    expect(claims.valid.filter((isValid) => !isValid).length).toBeGreaterThan(least);
  });
});

describe('the keys that are recovered from a signature', () => {
  const number = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const random = (n: number): Buffer => sha256(Buffer.from(`number ${n}`));
  const edges = [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, ORDER - 1n, ORDER, ORDER + 1n, 2n ** 256n - 1n].map(number);
  const numbers = [...edges, ...Array.from({ length: 6 }, (_, n) => random(n))];
  const signatures = numbers.flatMap((r) => numbers.map((s) => Buffer.concat([r, s])));
  const hashes = [random(-1), Buffer.alloc(32), Buffer.alloc(32, 0xff), number(ORDER)];
  const backends = [binding.loadNative()?.ecdsa, fallbackEcdsa].filter(
    (one) => one !== null && one !== undefined,
  );

  it('verify the signature and are the only such keys, for every implementation', () => {
    let most = 0;
    signatures.forEach((compact, n) => {
      const hash = hashes[n % hashes.length]!;
      const found = backends.map((ecdsa) => {
        const keys = [0, 1, 2, 3].flatMap((id) => ecdsa.recover(hash, compact, id, true) ?? []);
        for (const key of keys) expect(isChannelSignatureValid(hash, compact, key)).toBe(true);
        return [...new Set(keys.map(keyTag))];
      });
      for (const tags of found) expect(tags).toEqual(found[0]);
      expect(recoverSigners({ hash, compact })).toEqual(found[0]);
      most = Math.max(most, found[0]!.length);
    });
    // Four candidates exist if R is so small that it is the x coordinate of two pairs of points.
    expect(most).toBe(4);
  });

  it('contain the signing key, also with a high S', () => {
    for (let n = 0; n < 50; n++) {
      const { compact } = fallbackEcdsa.sign(random(n), random(-n - 2), null);
      const tag = keyTag(fallbackEcdsa.publicKeyOf(random(-n - 2), true));
      const s = BigInt(`0x${Buffer.from(compact).subarray(32).toString('hex')}`);
      for (const half of [s, ORDER - s]) {
        const signature = Buffer.concat([Buffer.from(compact).subarray(0, 32), number(half)]);
        expect(recoverSigners({ hash: random(n), compact: signature })).toContain(tag);
      }
    }
  });
});
