/** Which names are read again after a block that changed them. */
import { describe, expect, it } from 'vitest';
import { AskedNames } from '../../../../src/rpc/lookup/askedNames.js';

const namesOf = (found: readonly (readonly [string, unknown])[]): string[] => found.map(([name]) => name);

describe('names that callers requested', () => {
  it('are read again once after a block that changed them, the most recently requested first', () => {
    const asked = new AskedNames();
    for (const name of ['a', 'b', 'c']) asked.note(name, 100).whole.add('documented');
    asked.change(['a', 'c', 'd']);
    expect(namesOf(asked.takeChanged(101))).toEqual(['c', 'a']);
    expect(asked.takeChanged(102)).toEqual([]);
  });

  it('are removed if they were not requested during the latest blocks', () => {
    const asked = new AskedNames();
    asked.note('old', 100).head = true;
    asked.note('new', 110).proof = true;
    asked.change(['old', 'new']);
    expect(namesOf(asked.takeChanged(117))).toEqual(['new']);
    asked.note('old', 118);
    asked.change(['old']);
    expect(asked.takeChanged(118)).toEqual([['old', expect.objectContaining({ head: false, proof: false })]]);
  });

  it('are limited in number: names, single claims, and names after one block', () => {
    const asked = new AskedNames();
    const names = Array.from({ length: 100 }, (_, n) => `name ${n}`);
    for (const name of names) asked.note(name, 1).head = true;
    asked.change(names);
    expect(namesOf(asked.takeChanged(1))).toEqual(names.slice(-8).reverse());
    for (let bid = 0; bid < 40; bid++) asked.noteChoice('one', 1, `bid ${bid}`, 'reference', { bid });
    asked.change([...names, 'one']);
    const [name, one] = asked.takeChanged(1)[0]!;
    const { choices } = one;
    expect(name).toBe('one');
    expect([...choices.values()].at(0)).toEqual({ form: 'reference', choice: { bid: 24 } });
    expect(choices.size).toBe(16);
    // Only the latest hundred names are kept.
    asked.change(['name 3']);
    expect(asked.takeChanged(1)).toEqual([]);
  });
});
