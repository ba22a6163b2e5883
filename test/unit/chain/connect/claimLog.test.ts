/** The lines of `-debug=claims`. */
import { describe, expect, it } from 'vitest';
import { logConnectedClaims, logDisconnectedClaims } from '../../../../src/chain/connect/claimLog.js';
import type { ClaimEvent } from '../../../../src/claimtrie/types.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

const claimId = new Uint8Array(20).fill(0xab);
const txid = new Uint8Array(32).fill(0xcd);
const EVENTS: ClaimEvent[] = [
  { type: 'claim', name: Buffer.from('a'), rawName: Buffer.from('A\n"'), claimId, txid, n: 1, amount: 5n, validAtHeight: 9, isSupport: false, isActive: true }, // prettier-ignore
  { type: 'abandon', name: Buffer.from('b'), claimId, isSupport: true, spentBy: txid },
  { type: 'takeover', name: Buffer.from('b'), formerClaimId: claimId },
];

describe('the log of claims', () => {
  const lines: string[] = [];
  const log = {
    ...SILENT_LOGGER,
    willLog: (category: string) => category === 'claims',
    debug: (category: string, message: string | (() => string)) =>
      void lines.push(`${category}: ${typeof message === 'string' ? message : message()}`),
  };

  it('has a line for each event, whatever the name', () => {
    lines.length = 0;
    logConnectedClaims(log, 8, { events: EVENTS });
    logDisconnectedClaims(log, 8, txid);
    const [id, hash] = ['ab'.repeat(20), 'cd'.repeat(32)];
    expect(lines).toEqual([
      `claims: claims: height=8 claim: name="A\\n\\"", claimId=${id}, outpoint=${hash}:1, amount=5, validAtHeight=9, active=true`,
      `claims: claims: height=8 abandon: name="b", of=support, claimId=${id}, spentBy=${hash}`,
      `claims: claims: height=8 takeover: name="b", formerClaimId=${id}`,
      `claims: claims: height=8 disconnected: block=${hash}`,
    ]);
  });

  it('computes no event while the category is off', () => {
    const claims = {
      get events(): never {
        throw new Error('asked');
      },
    };
    logConnectedClaims(SILENT_LOGGER, 8, claims);
    expect(() => logConnectedClaims(log, 8, claims)).toThrow('asked');
  });
});
