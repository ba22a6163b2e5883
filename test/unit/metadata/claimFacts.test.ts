/**
 * Compares the fields of a claim's value that our own parser reads with those that lbry-sdk decodes from the same bytes.
 * Differences are in the table of `docs/lbcnet-recordings.md`.
 */
import { describe, expect, it } from 'vitest';
import { readClaimFacts } from '../../../src/metadata/claimFacts.js';
import { fromHex, hashToHex, toHex } from '../../../src/util/bytes.js';
import { AcceptedDifferences } from '../../support/acceptedDifferences.js';
import { recordedLines } from '../../support/claimChain.js';

interface Recorded {
  kind: string;
  raw: string;
  value?: { claim_id?: string; public_key?: string };
  value_error?: string;
  error?: string;
  empty?: boolean;
  how?: string;
  signed?: { channel_id: string; signature: string };
}

const accepted = new AcceptedDifferences('claimFacts');
const KINDS = ['stream', 'channel', 'collection', 'repost'];

describe('the facts of a claim', () => {
  it('equal those of lbry-sdk for claims of all generations', ({ skip }) => {
    const lines = recordedLines('sdk/claims.jsonl.gz');
    if (lines === null) return skip('shared/conformance/sdk is not there');
    const seen = new Map<string, number>();
    for (const line of lines) {
      const { kind, raw, value, error, signed } = JSON.parse(line) as Recorded;
      if (kind === 'support' || kind === 'purchase' || raw === undefined) continue;
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      const facts = readClaimFacts(fromHex(raw));
      if (error !== undefined) {
        if (facts.kind !== null && kind === 'v0') accepted.accept('wrong fee in JSON of 2016');
        else expect(facts.kind, raw).toBeNull();
        continue;
      }
      const expected = KINDS.includes(kind) ? kind : value?.public_key !== undefined ? 'channel' : 'stream';
      expect(facts.kind, raw).toBe(expected);
      if (signed) {
        expect(hashToHex(facts.channelId!)).toBe(signed.channel_id);
        expect(toHex(facts.signature!)).toBe(signed.signature);
      } else expect([facts.channelId, facts.signature]).toEqual([null, null]);
      if (kind === 'repost' && value?.claim_id !== undefined && facts.repostedId)
        expect(hashToHex(facts.repostedId)).toBe(value?.claim_id);
      // A key in DER contains both coordinates of the point. A compressed key contains only the first one.
      if (expected === 'channel' && value?.public_key !== undefined)
        expect(toHex(facts.publicKey!)).toContain(value.public_key.slice(2));
    }
    for (const kind of [...KINDS, 'v0', 'v1']) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(10);
  });

  it('are empty for a corrupt value that lbry-sdk cannot decode', ({ skip }) => {
    const lines = recordedLines('sdk/mutated.jsonl.gz');
    if (lines === null) return skip('shared/conformance/sdk is not there');
    const wrong: string[] = [];
    let count = 0;
    for (const line of lines) {
      const { kind, raw, error, empty, how } = JSON.parse(line) as Recorded;
      if (kind !== 'claim') continue;
      count++;
      const isDecodable = error === undefined && empty !== true;
      if ((readClaimFacts(fromHex(raw)).kind !== null) === isDecodable) continue;
      if (/^0[01]/.test(raw)) wrong.push(`${how} ${error ?? (empty ? 'empty' : 'decodable')} ${raw}`);
      else accepted.accept('damage in a claim of 2017 or before');
    }
    expect(accepted.problems()).toEqual([]);
    expect(count).toBeGreaterThan(1000);
    expect(wrong).toEqual([]);
  });

  it('skip a field of bytes within a group', () => {
    expect(readClaimFacts(fromHex('000a00a3017201aaa401')).kind).toBe('stream');
    expect(readClaimFacts(fromHex('000a00a3017201a401')).kind).toBeNull();
  });

  it('never throw, for any bytes', () => {
    let state = 7;
    const random = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) >>> 24;
    for (let n = 0; n < 20_000; n++) {
      const bytes = Buffer.from(Array.from({ length: random() & 63 }, random));
      if (bytes.length > 0 && n % 2 === 0) bytes[0] = [0, 1, 0x7b, 8][n & 3]!;
      readClaimFacts(bytes);
    }
    const deep = Buffer.concat(Array.from({ length: 200 }, () => Buffer.of(0x0b)));
    expect(readClaimFacts(Buffer.concat([Buffer.of(0), deep])).kind).toBeNull();
  });
});
