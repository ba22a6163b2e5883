import { describe, expect, it } from 'vitest';
import { RejectMessages } from '../../../../src/net/relay/rejectMessages.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { PartHost } from '../../../support/fakePeer.js';
import { numberedHash } from './support.js';

describe('rejections by peers', () => {
  it('are logged without control characters, and not answered', async () => {
    const lines: string[] = [];
    const debug = (category: string, message: string | (() => string)): void =>
      void lines.push(`${category}: ${typeof message === 'string' ? message : message()}`);
    const host = new PartHost([new RejectMessages({ log: { ...SILENT_LOGGER, debug } })]);
    const peer = host.connect();
    const reason = 'dust\u001b[31m\n"%s" \u00ff';
    await host.deliver(peer, 'reject', { message: 'tx', code: 0x41, reason, hash: numberedHash(1) });
    await host.deliver(peer, 'reject', { message: 'version', code: 0x11, reason: 'old', hash: null });
    expect(lines).toEqual([
      `net: Reject tx code 65: dust31ms : hash ${'ab'.repeat(28)}01000000`,
      'net: Reject version code 17: old',
    ]);
    expect(peer.sent).toEqual([]);
    expect([peer.score, peer.isGone]).toEqual([0, false]);
  });
});
