/**
 * Matches arguments against a usage line with positional arguments, `--name=value`, flags, alternatives and repetitions.
 * Options may be abbreviated if unambiguous. Source: the grammar of docopt 0.6.2, which lbrynet uses for its commands.
 */

import { suggestion } from '../../util/nearest.js';

/** Error: the arguments do not match the usage. The message contains the reason, while docopt often prints only the usage. */
export class UsageError extends Error {}

interface OptionRow {
  readonly name: string;
  readonly takesValue: boolean;
}

type Pattern =
  | { readonly kind: 'argument'; readonly name: string }
  | ({ readonly kind: 'option' } & OptionRow)
  | { readonly kind: 'required' | 'optional' | 'either' | 'repeated'; readonly parts: readonly Pattern[] };

/** A command-line argument: an option with its full name, or a word without a name (`name` is null). */
interface Token {
  readonly name: string | null;
  readonly value: string | true;
}

type Value = string | true | readonly string[];
type Found = readonly (readonly [string, Value])[];

interface Match {
  readonly isMatch: boolean;
  readonly left: readonly Token[];
  readonly found: Found;
}

/** Values by their names in the usage text (`<name>`, `--name`), in order; null for an argument that is absent. */
export type UsageValues = ReadonlyMap<string, string | boolean | readonly string[] | null>;

export class UsagePattern {
  readonly #root: Pattern;
  readonly #options: OptionRow[] = [];
  readonly #repeated = new Set<string>();

  constructor(usage: string) {
    const words = usage
      .replaceAll(/\[|\]|\(|\)|\||\.\.\./g, ' $& ')
      .split(' ')
      .filter((word) => word !== '');
    this.#root = { kind: 'required', parts: this.#readAlternatives(words) };
    if (words.length > 0) throw new Error(`a usage line ends with ${words.join(' ')}`);
    this.#noteRepeated(this.#root, false);
    // A positional argument such as `<name>` also counts as an option name, so that it affects abbreviations. It is not
    // accepted as an option.
    for (const name of leaves(this.#root).map((leaf) => leaf.name))
      if (name.startsWith('<')) this.#addOption({ name: `--${name.slice(1, -1)}`, takesValue: true });
  }

  /** Throws `UsageError`. */
  match(argv: readonly string[]): UsageValues {
    const tokens = this.#readTokens([...argv]);
    const { isMatch, left, found } = this.#matchPart(this.#root, tokens, []);
    if (!isMatch || left.length > 0) throw new UsageError(this.#reason(tokens, left));
    const values = new Map<string, string | boolean | readonly string[] | null>();
    for (const leaf of leaves(this.#root)) {
      const isFlag = leaf.kind === 'option' && !leaf.takesValue;
      values.set(leaf.name, this.#repeated.has(leaf.name) ? [] : isFlag ? false : null);
    }
    for (const [name, value] of found) values.set(name, value);
    return values;
  }

  /**
   * Explains why the arguments do not match: names the first unknown option, else the first missing argument, else the
   * arguments that remain.
   */
  #reason(tokens: readonly Token[], left: readonly Token[]): string {
    const names = leaves(this.#root).map(({ name }) => name);
    const accepted = names.filter((name) => name.startsWith('--'));
    const unknown = tokens.find(({ name }) => name !== null && !accepted.includes(name))?.name;
    if (unknown && names.includes(`<${unknown.slice(2)}>`))
      return `<${unknown.slice(2)}> needs the option '${unknown}'.`;
    if (unknown) return noOption(unknown, accepted);
    const missing = this.#missing(this.#root, tokens);
    if (missing !== null) return `Missing: ${missing}.`;
    const [rest] = left;
    return rest === undefined || rest.name === null
      ? `Unexpected argument '${String(rest?.value)}'.`
      : `${rest.name} is given more than once, or beside an option that excludes it.`;
  }

  /** Returns the first required part without a value, in the form of the usage text; null if no part is missing. */
  #missing(pattern: Pattern, tokens: readonly Token[]): string | null {
    if (pattern.kind === 'optional' || this.#matchPart(pattern, tokens, []).isMatch) return null;
    if ('name' in pattern) return pattern.name;
    if (pattern.kind === 'either') return pattern.parts.map((part) => leaves(part)[0]!.name).join(' or ');
    let so: Match = { isMatch: true, left: tokens, found: [] };
    for (const part of pattern.parts) {
      const next = this.#matchPart(part, so.left, so.found);
      if (!next.isMatch) return this.#missing(part, so.left);
      so = next;
    }
    return null;
  }

  #addOption(option: OptionRow): void {
    if (!this.#options.some(({ name }) => name === option.name)) this.#options.push(option);
  }

  #readAlternatives(words: string[]): readonly Pattern[] {
    const choices = [this.#readSequence(words)];
    while (words[0] === '|') {
      words.shift();
      choices.push(this.#readSequence(words));
    }
    const [only] = choices;
    if (choices.length === 1) return only!;
    const parts = choices.map((parts): Pattern =>
      parts.length === 1 ? parts[0]! : { kind: 'required', parts },
    );
    return [{ kind: 'either', parts }];
  }

  #readSequence(words: string[]): Pattern[] {
    const parts: Pattern[] = [];
    while (words.length > 0 && !['|', ']', ')'].includes(words[0]!)) {
      const part = this.#readAtom(words);
      if (words[0] === '...') {
        words.shift();
        parts.push({ kind: 'repeated', parts: [part] });
      } else parts.push(part);
    }
    return parts;
  }

  #readAtom(words: string[]): Pattern {
    const word = words.shift()!;
    if (word === '(' || word === '[') {
      const parts = this.#readAlternatives(words);
      words.shift();
      return { kind: word === '(' ? 'required' : 'optional', parts };
    }
    if (!word.startsWith('--')) return { kind: 'argument', name: word };
    const [name = ''] = word.split('=');
    const option = { name, takesValue: word.includes('=') };
    this.#addOption(option);
    return { kind: 'option', ...option };
  }

  #noteRepeated(pattern: Pattern, isRepeated: boolean): void {
    if ('name' in pattern) {
      if (isRepeated) this.#repeated.add(pattern.name);
      return;
    }
    for (const part of pattern.parts) this.#noteRepeated(part, isRepeated || pattern.kind === 'repeated');
  }

  #readTokens(words: string[]): Token[] {
    const tokens: Token[] = [];
    while (words.length > 0) {
      const word = words[0]!;
      if (word === '--') return [...tokens, ...words.map((value) => ({ name: null, value }))];
      if (word.startsWith('--')) tokens.push(this.#readOption(words));
      else if (word.startsWith('-') && word !== '-') throw new UsageError(this.#noShortOption(word));
      else tokens.push({ name: null, value: words.shift()! });
    }
    return tokens;
  }

  #noShortOption(word: string): string {
    return noOption(
      word,
      this.#options.map(({ name }) => name),
    );
  }

  #readOption(words: string[]): Token {
    const word = words.shift()!;
    const equals = word.indexOf('=');
    const given = equals < 0 ? word : word.slice(0, equals);
    let value = equals < 0 ? null : word.slice(equals + 1);
    const option = this.#findOption(given);
    // An unknown option is converted to a token that matches nothing, so that the usage does not match.
    if (option === null) return { name: given, value: value ?? true };
    if (!option.takesValue) {
      if (value !== null) throw new UsageError(`${option.name} must not have an argument`);
      return { name: option.name, value: true };
    }
    value ??= words.shift() ?? null;
    if (value === null) throw new UsageError(`${option.name} requires argument`);
    return { name: option.name, value };
  }

  #findOption(given: string): OptionRow | null {
    const exact = this.#options.find(({ name }) => name === given);
    if (exact) return exact;
    const near = this.#options.filter(({ name }) => name.startsWith(given));
    if (near.length > 1)
      throw new UsageError(`${given} is not a unique prefix: ${near.map(({ name }) => name).join(', ')}?`);
    return near[0] ?? null;
  }

  #matchPart(pattern: Pattern, left: readonly Token[], found: Found): Match {
    switch (pattern.kind) {
      case 'argument':
      case 'option':
        return this.#matchLeaf(pattern, left, found);
      case 'required':
        return this.#matchAll(pattern.parts, left, found);
      case 'optional':
        return pattern.parts.reduce<Match>(
          (so, part) => ({ ...this.#matchPart(part, so.left, so.found), isMatch: true }),
          { isMatch: true, left, found },
        );
      case 'either':
        return this.#matchOne(pattern.parts, left, found);
      case 'repeated':
        return this.#matchMany(pattern.parts[0]!, left, found);
    }
  }

  #matchLeaf(leaf: Pattern & { readonly name: string }, left: readonly Token[], found: Found): Match {
    const wanted = leaf.kind === 'option' ? leaf.name : null;
    const at = left.findIndex(({ name }) => name === wanted);
    if (at < 0) return { isMatch: false, left, found };
    const { value } = left[at]!;
    const rest = left.toSpliced(at, 1);
    if (!this.#repeated.has(leaf.name))
      return { isMatch: true, left: rest, found: [...found, [leaf.name, value]] };
    const before = found.find(([name]) => name === leaf.name)?.[1] as readonly string[] | undefined;
    const others = found.filter(([name]) => name !== leaf.name);
    return {
      isMatch: true,
      left: rest,
      found: [...others, [leaf.name, [...(before ?? []), value as string]]],
    };
  }

  #matchAll(parts: readonly Pattern[], left: readonly Token[], found: Found): Match {
    let so: Match = { isMatch: true, left, found };
    for (const part of parts) {
      so = this.#matchPart(part, so.left, so.found);
      if (!so.isMatch) return { isMatch: false, left, found };
    }
    return so;
  }

  /** Returns the matching alternative that leaves the fewest arguments over. Among equal alternatives the first is returned. */
  #matchOne(parts: readonly Pattern[], left: readonly Token[], found: Found): Match {
    let best: Match | null = null;
    for (const part of parts) {
      const match = this.#matchPart(part, left, found);
      if (match.isMatch && (best === null || match.left.length < best.left.length)) best = match;
    }
    return best ?? { isMatch: false, left, found };
  }

  #matchMany(part: Pattern, left: readonly Token[], found: Found): Match {
    let so = this.#matchPart(part, left, found);
    if (!so.isMatch) return so;
    for (;;) {
      const next = this.#matchPart(part, so.left, so.found);
      if (!next.isMatch || next.left.length === so.left.length) return so;
      so = next;
    }
  }
}

const noOption = (word: string, known: readonly string[]): string =>
  `The option '${word}' does not exist.${suggestion(word, known, (near) => `'${near}'`)}`;

function leaves(pattern: Pattern): (Pattern & { readonly name: string })[] {
  return 'name' in pattern ? [pattern] : pattern.parts.flatMap(leaves);
}
