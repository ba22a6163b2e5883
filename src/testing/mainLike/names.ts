/** Generates claim names with the patterns of names on the main network. */
import type { Draw } from './draw.js';
import { NAME_SHAPES } from './proportions.js';

const CONSONANTS = 'bcdfghjklmnprstvwz';
const VOWELS = 'aeiou';
/** Number of different words in generated names. Arbitrary: about as many as are in frequent use. */
const WORDS = 6000;
const MOST_SYLLABLES = 4;
/** Forms of the letter e with an accent: composed, decomposed, and a capital. After normalization they are equal. */
const ACCENTED = ['\u00e9', 'e\u0301', '\u00c9'];

export class Names {
  private readonly draw: Draw;
  private readonly words: readonly string[];

  constructor(draw: Draw) {
    this.draw = draw;
    this.words = Array.from({ length: WORDS }, () => this.newWord());
  }

  private newWord(): string {
    const { draw } = this;
    let word = '';
    for (let left = 1 + draw.below(MOST_SYLLABLES); left > 0; left--)
      word += CONSONANTS[draw.below(CONSONANTS.length)]! + VOWELS[draw.below(VOWELS.length)]!;
    return draw.oneIn(2) ? word : word + CONSONANTS[draw.below(CONSONANTS.length)]!;
  }

  /** Returns a random word of the list. Words at the start of the list are more frequent. */
  word(): string {
    const { draw, words } = this;
    return words[draw.below(1 + draw.below(words.length))]!;
  }

  /** Returns a random name for the claim of a stream, a repost or a collection. */
  claim(): string {
    const { draw } = this;
    if (draw.oneIn(NAME_SHAPES.hexOneIn))
      return draw.u32().toString(16).padStart(8, '0') + draw.u32().toString(16).padStart(8, '0');
    return this.title();
  }

  channel(): string {
    return `@${this.word()}${this.draw.oneIn(2) ? this.word() : this.draw.below(10_000)}`;
  }

  private title(): string {
    const { draw } = this;
    const capitals = draw.oneIn(NAME_SHAPES.capitalsOneIn);
    let title = '';
    for (let left = draw.of(NAME_SHAPES.words); left > 0; left--) {
      const word = this.word();
      title += `${title && '-'}${capitals ? word[0]!.toUpperCase() + word.slice(1) : word}`;
    }
    if (draw.oneIn(NAME_SHAPES.accentsOneIn)) title = title.replace(/e|$/, draw.of(ACCENTED));
    return title.slice(0, NAME_SHAPES.longest);
  }

  /** Returns a spelling of `name` with the same normalized form, which may be `name` itself. */
  respelled(name: string): string {
    return this.draw.oneIn(2) ? name : name.toUpperCase();
  }
}
