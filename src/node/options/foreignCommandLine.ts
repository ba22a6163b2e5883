/**
 * Converts command lines of the other programs of this chain: options of lbcd become ours if there is an equivalent; options
 * of lbcd and of older lbrycrd without meaning here are ignored with a warning. Options of lbrycrd 0.17 have the same names
 * here. Source: lbcd config.go, whose parser is go-flags: values follow `=` or are in the next word.
 */
import { explainedOption, lbcdEqual, refusedNetwork } from './foreignConfig.js';
import { isSwitchValue, OptionError } from './optionArgs.js';

/** Short option: one letter after one dash. */
const SHORT: Readonly<Record<string, string>> = {
  a: 'addpeer',
  b: 'datadir',
  C: 'configfile',
  d: 'debuglevel',
  P: 'rpcpass',
  u: 'rpcuser',
  V: 'version',
};

/** Options of lbcd without a value; all others have one. */
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
  /** Ignored entries, with reasons. */
  readonly warnings: readonly string[];
}

interface Given {
  /** Full name of a one-letter option. */
  readonly name: string;
  readonly value: string | null;
}

function optionIn(word: string): Given | null {
  const match = /^(--?)([^=]+)(?:=(.*))?$/s.exec(word);
  if (match === null) return null;
  const [, dashes, given = '', value] = match;
  const name = (dashes === '-' ? SHORT[given] : undefined) ?? given;
  return { name, value: value ?? null };
}

/** The word with the full name of its option. */
const inFull = (word: string, { name, value }: Given): string =>
  /^-[^-=](=|$)/.test(word) ? `-${name}${value === null ? '' : `=${value}`}` : word;

/** In lbcd, `listen` is an address; here it is a switch. */
const isListenAddress = ({ name, value }: Given): boolean =>
  name === 'listen' && value !== null && !isSwitchValue(value);

/**
 * Converts the words after the program's name to our own options. `knows` returns whether an option is ours, negated or not.
 * Throws `OptionError` for a network that does not exist here.
 */
export function translateForeign(
  words: readonly string[],
  knows: (name: string) => boolean,
): TranslatedWords {
  const translated: string[] = [];
  const warnings: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const option = optionIn(word);
    const equal = option && lbcdEqual(option.name);
    const why = option && explainedOption(option.name);
    const isOurs = option === null || (knows(option.name) && !isListenAddress(option));
    if (isOurs || (!equal && !why)) {
      translated.push(option === null ? word : inFull(word, option));
      continue;
    }
    const next = words[index + 1];
    const hasNext = option.value === null && next !== undefined && !next.startsWith('-');
    const takesNext = hasNext && (!SWITCHES.has(option.name) || isSwitchValue(next));
    if (takesNext) index++;
    const value = option.value ?? (takesNext ? next : '');
    const network = refusedNetwork(option.name, value);
    if (network !== null) throw new OptionError(`${network}.`);
    if (option.name === 'configfile') translated.push(`-conf=${value}`);
    else if (equal) {
      const ours = equal(value);
      if (ours !== null) translated.push(`-${ours.name}=${ours.value}`);
    } else warnings.push(`Command line: ${option.name} is passed over: ${why}.`);
  }
  return { words: translated, warnings };
}
