import { describe, expect, it } from 'vitest';
import { fitted } from '../../../../src/node/display/fitted.js';

const TEXT = 'error message:\nMethod not found, as it seems\n\n  indented\n';

describe('text for the user of a command', () => {
  it('is wrapped at spaces on a terminal, line by line', () => {
    expect(fitted(TEXT, { isTTY: true, columns: 20 })).toBe(
      'error message:\nMethod not found, as\n    it seems\n\n  indented\n',
    );
    const words = `${'word '.repeat(20)}end`;
    expect(fitted(words, { isTTY: true, columns: 0 }).split('\n')).toHaveLength(2);
  });

  it('is unchanged elsewhere', () => {
    expect(fitted(TEXT, {})).toBe(TEXT);
    expect(fitted(TEXT, { columns: 20 })).toBe(TEXT);
  });
});
