import { describe, expect, it } from 'vitest';
import { readHubAnswer, WrongAnswerError } from '../../../../src/daemon/resolve/hubAnswer.js';
import { outputs, row, stream } from './claimWorld.js';

/** Rows of two bytes each. */
const emptyRows = (bytes: number): Buffer => Buffer.alloc(bytes, Buffer.of(0x0a, 0));

describe('readHubAnswer', () => {
  it('reads at most as many rows as one request can have', () => {
    const rows = (count: number): Buffer =>
      outputs({ txos: Array.from({ length: count }, () => row(stream)) });
    expect(readHubAnswer(rows(100)).rows).toHaveLength(100);
    expect(() => readHubAnswer(rows(101))).toThrow(new WrongAnswerError('the answer has more than 100 rows'));
    const extra = outputs({ extraTxos: Array.from({ length: 2001 }, () => row(stream)) });
    expect(() => readHubAnswer(extra)).toThrow('the answer has 2001 rows that were not requested');
  });

  it('refuses impossible numbers', () => {
    expect(() => readHubAnswer(emptyRows(1 << 20))).toThrow(
      new WrongAnswerError('the answer has too many rows'),
    );
    expect(() => readHubAnswer(emptyRows(8 << 20))).toThrow(
      new WrongAnswerError(`the answer has ${8 << 20} bytes`),
    );
    expect(() => readHubAnswer(Buffer.of(0x0a, 9))).toThrow('the answer is not a message');
  });
});
