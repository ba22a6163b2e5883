import { describe, expect, it } from 'vitest';
import { nameWarning, shownLine, shownText } from '../../../src/page/text.js';

describe('texts from the chain', () => {
  it.each([
    ['plain text', 'plain text'],
    ['a\u202eb', 'a⟨202E⟩b'],
    ['a\u200bb\ufeffc', 'a⟨200B⟩b⟨FEFF⟩c'],
    ['\u0000\u0007\u001b[31m', '⟨0000⟩⟨0007⟩⟨001B⟩[31m'],
    ['tag\u{e0041}', 'tag⟨E0041⟩'],
    ['half \ud83d', 'half ⟨D83D⟩'],
    ['🐋 whole', '🐋 whole'],
    ['line\nbreak\tand tab', 'line\nbreak\tand tab'],
  ])('%j is shown as %j', (text, shown) => {
    expect(shownText(text)).toBe(shown);
  });

  it('are cut by characters, never within one', () => {
    expect(shownText('🐋'.repeat(10), 3)).toBe('🐋🐋🐋…');
    expect(shownText('abc', 3)).toBe('abc');
    expect(shownLine('  a \n\n b  ')).toBe('a b');
  });
});

describe('names that could be taken for others', () => {
  it.each(['odysee', 'café', 'кот', '@channel', 'a-b_c', '日本'])('%s is plain', (name) => {
    expect(nameWarning(name)).toBeNull();
  });

  it.each([
    ['оdysee', /mixes Latin and Cyrillic/],
    ['a\u200bb', /cannot be seen/],
    ['αbc', /mixes Latin and Greek/],
  ])('%s has a warning', (name, warning) => {
    expect(nameWarning(name)).toMatch(warning);
    // Called again: nothing is kept from the first call.
    expect(nameWarning(name)).toMatch(warning);
  });
});
