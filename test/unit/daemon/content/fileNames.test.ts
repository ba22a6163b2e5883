/** File names from untrusted descriptors. */
import { describe, expect, it } from 'vitest';
import { fittingName, suggestedNameOf } from '../../../../src/daemon/content/fileNames.js';

describe('the suggested name of a stream', () => {
  it.each([
    ['../../etc/passwd', '....etcpasswd'],
    ['\u0000\n..', 'lbry_download'],
    [`${'x'.repeat(300)}.mp4`, `${'x'.repeat(251)}.mp4`],
    // A character has two bytes, so one byte of the odd limit stays unused.
    [`${'ä'.repeat(200)}.mp4`, `${'ä'.repeat(125)}.mp4`],
    [`${'😀'.repeat(100)}`, '😀'.repeat(63)],
    [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
  ])('of %s can be that of a file', (inDescriptor, expected) => {
    const name = suggestedNameOf(inDescriptor, '');
    expect(name).toBe(expected);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  });

  it('is truncated before an appended number', () => {
    expect(fittingName('x'.repeat(255), '_12.mp4')).toBe(`${'x'.repeat(248)}_12.mp4`);
    expect(fittingName('short', '_1.mp4')).toBe('short_1.mp4');
  });
});
