/**
 * Converts command lines written for lbcd or older lbrycrd. Options of lbcd are converted to this node's options if there is
 * an equivalent; options without meaning for this node are ignored with a warning. Options of lbrycrd 0.17 have the same
 * names as this node's. Source: lbcd config.go. Its parser is go-flags: a value follows `=` or is the next word.
 */
import { explainedOption, fullName, lbcdEqual, refusedNetwork } from './foreignConfig.js';
import { unquoted } from './lbcdConfig.js';
import { isSwitchValue, OptionError } from './optionArgs.js';

/** Options of lbcd without a value. All other options need a value. */
const SWITCHES: ReadonlySet<string> = new Set([
  ...['addrindex', 'alerts', 'blocksonly', 'dropaddrindex', 'dropcfindex', 'droptxindex', 'gen', 'generate'],
  ...['nobanning', 'nocfilters', 'nocheckpoints', 'nodnsseed', 'nolisten', 'noonion', 'nopeerbloomfilters'],
  ...['norelaypriority', 'norpc', 'nostalldetect', 'notls', 'nowinservice', 'regtest', 'rejectnonstd'],
  ...[
    'rejectreplacement',
    'relaynonstd',
    'relaypriority',
    'rpckeepalive',
    'rpcquirks',
    'sendfreetransactions',
  ],
  ...['signet', 'simnet', 'testnet', 'torisolation', 'txindex', 'upnp', 'version'],
]);

export interface TranslatedWords {
  readonly words: readonly string[];
  /** Warnings for ignored options, with reasons. */
  readonly warnings: readonly string[];
}

interface Given {
  /** Full name of the option, even if the command line contains its one-letter form. */
  readonly name: string;
  readonly value: string | null;
}

/**
 * Matches a one-letter option joined to its value, as in `-ulbry`. The value of other letters, and one with `=`, is not
 * accepted, because the word is more likely a misspelt option of this node.
 */
const JOINED = /^-(?:([Pu])([^=]+)|([abC])([^A-Za-z=].*))$/s;

function optionIn(word: string, knows: (name: string) => boolean): Given | null {
  const match = /^(--?)([^=]+)(?:=(.*))?$/s.exec(word);
  if (match === null) return null;
  const [, dashes, given = '', value] = match;
  const joined = knows(given) ? null : JOINED.exec(word);
  if (joined !== null) return { name: fullName(joined[1] ?? joined[3]!)!, value: joined[2] ?? joined[4]! };
  const name = (dashes === '-' ? fullName(given) : undefined) ?? given;
  return { name, value: value ?? null };
}

/** Returns the word of the command line, with a one-letter option name replaced by the full name. */
const inFull = (word: string, { name, value }: Given): string =>
  /^-?-[^=]+/.exec(word)![0].replace(/^--?/, '') === name
    ? word
    : `-${name}${value === null ? '' : `=${value}`}`;

/** Whether `listen` is used as in lbcd, where its value is an address. In this node it is a switch. */
const isListenAddress = ({ name, value }: Given, next: string | undefined): boolean =>
  name === 'listen' && !isSwitchValue(value ?? valueWord(next) ?? '');

/** Returns the word after an option if it can be its value. */
const valueWord = (next: string | undefined): string | undefined =>
  next === undefined || next.startsWith('-') ? undefined : next;

/** Whether an option exists in lbcd and not in this node. */
const isForeign = (option: Given | null, knows: (name: string) => boolean): boolean =>
  option !== null &&
  !knows(option.name) &&
  (lbcdEqual(option.name) !== undefined || explainedOption(option.name) !== undefined);

/**
 * Removes quotes around the values if the command line is one of lbcd, as its parser does: a compose file can have them
 * around a password. In a command line of lbrycrd they are part of the value.
 */
function withoutQuotes(words: readonly string[], knows: (name: string) => boolean): readonly string[] {
  if (!words.some((word) => isForeign(optionIn(word, knows), knows))) return words;
  return words.map((word) => {
    const [, option = '', value = word] = /^(--?[^=]+=)?(.*)$/s.exec(word)!;
    return /^".*"$/s.test(value) ? option + unquoted(value) : word;
  });
}

/**
 * Converts the words after the program name to options of this node. `knows` returns whether an option is ours, negated or
 * not. Throws `OptionError` for a network that does not exist here, and for a value that lbcd refuses.
 */
export function translateForeign(
  given: readonly string[],
  knows: (name: string) => boolean,
): TranslatedWords {
  const words = withoutQuotes(given, knows);
  const translated: string[] = [];
  const warnings: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const next = words[index + 1];
    const option = optionIn(word, knows);
    const isOurs = option === null || (knows(option.name) && !isListenAddress(option, next));
    if (isOurs || !(isForeign(option, knows) || option.name === 'listen')) {
      translated.push(option === null ? word : inFull(word, option));
      continue;
    }
    const following = option.value === null ? valueWord(next) : undefined;
    const takesNext = following !== undefined && (!SWITCHES.has(option.name) || isSwitchValue(following));
    if (takesNext) index++;
    const value = option.value ?? (takesNext ? following : null);
    if (value === null && !SWITCHES.has(option.name))
      throw new OptionError(`The option --${option.name} of lbcd needs a value.`, option.name);
    const { settings, warning } = convert(option.name, value ?? '');
    translated.push(...settings);
    warnings.push(...warning);
  }
  return { words: translated, warnings };
}

/** Converts one option of lbcd to words of our command line, and to a warning if it has no equivalent. */
function convert(name: string, value: string): { settings: readonly string[]; warning: readonly string[] } {
  const network = refusedNetwork(name, value);
  if (network !== null) throw new OptionError(`${network}.`);
  if (name === 'configfile') return { settings: [`-conf=${value}`], warning: [] };
  const equal = lbcdEqual(name);
  if (equal === undefined)
    return { settings: [], warning: [`Command line: ${name} is ignored: ${explainedOption(name)}.`] };
  try {
    return { settings: equal(value).map((ours) => `-${ours.name}=${ours.value}`), warning: [] };
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    throw new OptionError(`--${name}=${value}: ${error.message}.`);
  }
}
