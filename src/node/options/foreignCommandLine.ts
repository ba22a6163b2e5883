/**
 * Converts command lines written for lbcd or older lbrycrd. Options of lbcd become our options if there is an equivalent;
 * options without meaning here are ignored with a warning. Options of lbrycrd 0.17 have the same names here. Source: lbcd
 * config.go. Its parser is go-flags: a value follows `=` or is the next word.
 */
import { explainedOption, lbcdEqual, refusedNetwork } from './foreignConfig.js';
import { isSwitchValue, OptionError } from './optionArgs.js';

/** Full names of lbcd's one-letter options, which follow a single dash. */
const SHORT: Readonly<Record<string, string>> = {
  a: 'addpeer',
  b: 'datadir',
  C: 'configfile',
  d: 'debuglevel',
  P: 'rpcpass',
  u: 'rpcuser',
  V: 'version',
};

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
  /** Full name of the option, also if the command line has its one-letter form. */
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

/** Returns the word of the command line with the full option name. */
const inFull = (word: string, { name, value }: Given): string =>
  /^-[^-=](=|$)/.test(word) ? `-${name}${value === null ? '' : `=${value}`}` : word;

/** Whether `listen` is used as in lbcd, where its value is an address. In this node it is a switch. */
const isListenAddress = ({ name, value }: Given): boolean =>
  name === 'listen' && value !== null && !isSwitchValue(value);

/**
 * Converts the words after the program name to options of this node. `knows` returns whether an option is ours, negated or
 * not. Throws `OptionError` for a network that does not exist here.
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
