import { describe, expect, it } from 'vitest';
import { nameWarning, shownLine, shownMarkup, shownName, shownText } from '../../../src/page/text.js';

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

describe('names', () => {
  it.each([
    ['two words', 'two words'],
    [' a', '⟨0020⟩a'],
    ['a ', 'a⟨0020⟩'],
    ['a  b', 'a⟨0020⟩ b'],
    ['   ', '⟨0020⟩⟨0020⟩⟨0020⟩'],
    ['a\u00a0b', 'a⟨00A0⟩b'],
    ['a\nb\tc', 'a⟨000A⟩b⟨0009⟩c'],
    ['a\u3000\u2800', 'a⟨3000⟩⟨2800⟩'],
    ['a\u200bb', 'a⟨200B⟩b'],
    ['', ''],
  ])('%j are shown as %j, so that they differ from others', (name, shown) => {
    expect(shownName(name)).toBe(shown);
    expect(nameWarning(name) === null).toBe(shown === name);
  });

  it('are cut by characters', () => {
    expect(shownName('🐋'.repeat(10), 3)).toBe('🐋🐋🐋…');
  });
});

describe('a name that looks like another one', () => {
  it('has each character that Unicode lets programs ignore shown by its number, with a warning', () => {
    const ignorable = /\p{Default_Ignorable_Code_Point}/u;
    const missed: string[] = [];
    for (let code = 0; code < 0x110000; code++) {
      const character = String.fromCodePoint(code);
      if (!ignorable.test(character)) continue;
      const name = `pay${character}pal`;
      if (shownName(name) === name || nameWarning(name) === null) missed.push(code.toString(16));
    }
    expect(missed).toEqual([]);
  });

  it.each(['ⲣaypal', 'ꓮapple', 'pаypal'])('mixes scripts: %s', (name) => {
    expect(nameWarning(name)).toMatch(/^This name mixes /);
  });
});

describe('a whole page', () => {
  it('shows each character as its texts do', () => {
    const wrong: string[] = [];
    for (let from = 0; from < 0x110000; from += 64) {
      // Between the emojis and the tag characters nothing is hidden.
      if (from === 0x20000) from = 0xe0000;
      const codes = Array.from({ length: 64 }, (_, n) => from + n);
      const text = String.fromCodePoint(...codes.filter((code) => code < 0xd800 || code > 0xdfff));
      if (shownMarkup(text).toString() !== shownText(text)) wrong.push(text);
    }
    expect(wrong).toEqual([]);
    expect(shownMarkup('half \ud83d').toString()).toBe('half ⟨D83D⟩');
  });

  it('returns proofs and texts to copy unchanged, which the browser reads', () => {
    for (const name of ['data-proof', 'data-copy', 'value'])
      expect(shownMarkup(`<p ${name}="a\u009b\u200b">\u009b</p>`).toString()).toBe(
        `<p ${name}="a\u009b\u200b">⟨009B⟩</p>`,
      );
  });

  it('returns fields as they were typed', () => {
    expect(shownMarkup('<input value="a\u202e"> \u202e').toString()).toBe('<input value="a\u202e"> ⟨202E⟩');
  });
});

describe('names that resemble others', () => {
  it.each(['odysee', 'café', 'кот', '@channel', 'a-b_c', '日本'])('%s is plain', (name) => {
    expect(nameWarning(name)).toBeNull();
  });

  it.each([
    ['оdysee', /mixes Latin and Cyrillic/],
    ['a\u200bb', /cannot be seen/],
    ['αbc', /mixes Latin and Greek/],
  ])('%s has a warning', (name, warning) => {
    expect(nameWarning(name)).toMatch(warning);
    // A second call gives the same result, because the regular expression keeps no position.
    expect(nameWarning(name)).toMatch(warning);
  });
});
