import { describe, expect, it } from 'vitest';
import { errorAnswer as daemonError } from '../../../../src/daemon/api/dispatch.js';
import { errorAnswer } from '../../../../src/rpc/call/envelope.js';
import { rpcError } from '../../../../src/rpc/declare/errors.js';
import { HubError } from '../../../../src/hub/protocol/hubError.js';
import { boundedErrorText, MAX_ERROR_CHARS } from '../../../../src/util/text/errorText.js';

const LONG = 'x'.repeat(300_000);

describe('the text of an error', () => {
  it('is unchanged up to its limit', () => {
    expect(boundedErrorText('short')).toBe('short');
    expect(boundedErrorText(LONG.slice(0, MAX_ERROR_CHARS))).toBe(LONG.slice(0, MAX_ERROR_CHARS));
  });

  it('is truncated beyond it, between characters', () => {
    expect(boundedErrorText(LONG)).toBe(`${LONG.slice(0, MAX_ERROR_CHARS - 1)}…`);
    const pairs = boundedErrorText('😀'.repeat(MAX_ERROR_CHARS));
    expect(pairs.length).toBeLessThanOrEqual(MAX_ERROR_CHARS);
    expect(Buffer.from(pairs).toString()).toBe(pairs);
  });

  it('is limited in answers of the daemon', () => {
    expect(JSON.stringify(daemonError(-32500, LONG)).length).toBeLessThan(1300);
  });

  it('is limited in answers of the node and of the hub', () => {
    const request = { id: 1, isV2: false } as unknown as Parameters<typeof errorAnswer>[0];
    expect(JSON.stringify(errorAnswer(request, rpcError(-8, LONG))).length).toBeLessThan(1300);
    expect(new HubError(1, LONG).message).toHaveLength(MAX_ERROR_CHARS);
  });
});
