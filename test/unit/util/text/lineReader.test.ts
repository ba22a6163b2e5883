import { describe, expect, it } from 'vitest';
import { LineReader } from '../../../../src/util/text/lineReader.js';

/** The lines that are read if `bytes` arrive in chunks of `pieceBytes` bytes. */
function linesOf(bytes: Buffer, pieceBytes: number, maxLineBytes = 1000): string[] {
  const reader = new LineReader(maxLineBytes);
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    reader.push(Buffer.from(bytes.subarray(at, at + pieceBytes)));
    for (let line = reader.next(); line !== null; line = reader.next()) lines.push(line.toString());
  }
  return lines;
}

describe('LineReader', () => {
  it('finds the same lines for any chunks', () => {
    const lines = Array.from({ length: 50 }, (_, n) => 'x'.repeat((n * 37) % 200));
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    for (const pieceBytes of [1, 2, 3, 7, 64, 199, 4096, bytes.length])
      expect(linesOf(bytes, pieceBytes)).toEqual(lines);
  });

  it('does not change lines that it returned', () => {
    const reader = new LineReader(1000);
    reader.push(Buffer.from('one\ntw'));
    const one = reader.next()!;
    reader.push(Buffer.from('o\nthree'));
    const two = reader.next()!;
    reader.push(Buffer.from(' and more\n'));
    const three = reader.next()!;
    expect([one, two, three].map(String)).toEqual(['one', 'two', 'three and more']);
    expect(reader.heldBytes).toBe(0);
  });

  it('reports a line that is too long, and not complete lines', () => {
    const reader = new LineReader(10);
    reader.push(Buffer.from('0123456789'));
    expect(reader.next()).toBeNull();
    expect(reader.isTooLong).toBe(false);
    reader.push(Buffer.from('x'));
    expect(reader.next()).toBeNull();
    expect(reader.isTooLong).toBe(true);
    const whole = new LineReader(10);
    whole.push(Buffer.from('0123\n56789'));
    expect([whole.next()?.toString(), whole.next(), whole.isTooLong]).toEqual(['0123', null, false]);
  });
});
