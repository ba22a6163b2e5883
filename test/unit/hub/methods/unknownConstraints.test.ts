import { describe, expect, it } from 'vitest';
import { UnknownConstraints } from '../../../../src/hub/methods/unknownConstraints.js';

describe('constraints that the hub does not know', () => {
  it('are logged in one line a minute, with the names and the number of searches', () => {
    const lines: string[] = [];
    let ms = 5;
    const noted = new UnknownConstraints(
      (line) => lines.push(line),
      () => ms,
    );
    noted.note(['limit', 'claim.height', 'exclude_shorts']);
    expect(lines).toEqual([]);
    noted.note(['limit', 'un\nknown']);
    noted.note(['first']);
    ms += 59_999;
    noted.note(['second', 'limit']);
    expect(lines).toEqual([
      'A search was answered without these constraints, which the hub does not support: "un\\nknown"',
    ]);
    ms += 1;
    noted.note(['first', 'x'.repeat(100)]);
    expect(lines.slice(1)).toEqual([
      `3 searches were answered without these constraints, which the hub does not support: "first", "second", "${'x'.repeat(64)}"`,
    ]);
    for (let n = 0; n < 100; n++) noted.note([`name ${n}`]);
    ms += 60_000;
    noted.note(['last']);
    expect(lines[2]).toMatch(/^101 searches were/);
    expect(lines[2]!.match(/"name \d+"/g)).toHaveLength(10);
  });
});
