/** Fuzz targets: the configuration file's text, the command line's words, and the values read from both. */
import { ConfigFileError, parseConfigText, type ConfigEntry } from '../../../src/node/options/configFile.js';
import { OptionArgs, OptionError } from '../../../src/node/options/optionArgs.js';
import { applyInteractions, checkOptions, paramsFor } from '../../../src/node/options/optionChecks.js';
import type { OptionRow } from '../../../src/node/options/optionRow.js';
import { OPTION_ROWS, type Options } from '../../../src/node/options/optionsTable.js';
import { readOptions } from '../../../src/node/options/optionValues.js';
import type { Random } from '../../differential/support.js';
import { law, outcomeOf, type Target } from '../support/campaign.js';
import { mutateBytes, noise } from '../support/mutate.js';

const ROWS: readonly OptionRow[] = OPTION_ROWS;

function checkEntries(text: string, entries: readonly ConfigEntry[]): void {
  const lines = text.split('\n').length;
  law(entries.length <= lines, 'at most one setting a line');
  for (const { section, name, value } of entries) {
    for (const part of [name, value]) law(!/[\n#]/.test(part) && !/[ \t\r]$/.test(part), 'trimmed');
    law(!section.includes('\n') && text.includes(value), 'values stand in the text');
  }
}

/** Checks that every value has the type of its row and is within its limits. */
function checkValues(options: Options): void {
  const values = options as unknown as Record<string, unknown>;
  for (const row of ROWS) {
    const value = values[row.name];
    if (value === undefined) {
      law(row.default === undefined && row.kind !== 'list', () => `-${row.name} has no value`);
      continue;
    }
    switch (row.kind) {
      case 'bool':
        law(typeof value === 'boolean', () => `-${row.name} is not a boolean`);
        break;
      case 'int':
        law(Number.isSafeInteger(value), () => `-${row.name}=${String(value)} is not an integer`);
        law(
          !row.clamp || ((value as number) >= row.clamp[0] && (value as number) <= row.clamp[1]),
          'within its bounds',
        );
        break;
      case 'amount':
        law(typeof value === 'bigint' && value >= 0n, () => `-${row.name} is not an amount`);
        break;
      case 'string':
        law(
          typeof value === 'string' && (row.choices?.includes(value) ?? true),
          () => `-${row.name} is not one of the choices`,
        );
        break;
      case 'list':
        law(
          Array.isArray(value) && value.every((item) => typeof item === 'string'),
          () => `-${row.name} is not a list`,
        );
    }
  }
}

/** Processes the options as a start does, without access to the disk. */
function settle(args: OptionArgs): void {
  const network = args.network();
  args.takeIncludes(network);
  args.selectSection(network);
  applyInteractions(args, []);
  args.sectionWarnings();
  const options = readOptions(args);
  checkValues(options);
  const derived = checkOptions(args, options, paramsFor(network, args, options), []);
  law(derived.scriptThreads >= 1 && derived.scriptThreads <= 16, 'threads');
  law(Number.isSafeInteger(derived.dbCacheBytes) && derived.dbCacheBytes > 0, 'cache');
}

export function checkConfigText(text: string): string {
  const parsed = outcomeOf(() => parseConfigText(text), ConfigFileError);
  if (parsed.error !== null) {
    law(/^parse error on line [0-9]+/.test(parsed.error.message), 'the line is named');
    return 'no configuration';
  }
  checkEntries(text, parsed.value);
  const settled = outcomeOf(() => {
    const args = new OptionArgs(OPTION_ROWS);
    args.addConfig(parsed.value, false);
    settle(args);
  }, OptionError);
  return settled.error === null ? 'options' : 'refused';
}

export function checkWords(words: readonly string[]): string {
  const settled = outcomeOf(() => {
    const args = new OptionArgs(OPTION_ROWS);
    const rest = args.parseCommandLine(words);
    law(rest.length <= words.length && (rest.length === 0 || !rest[0]!.startsWith('-')), 'what is left');
    settle(args);
  }, OptionError);
  return settled.error === null ? 'options' : 'refused';
}

const VALUES = [
  '', '0', '1', '-1', '2', '550', '4', '16384', '99999999999999999999', '-99999999999999999999', '1e3', '0x10', ' 7 ', 'true',
  'no', '0.00001', '1.123456789', '.', '1.', '99999999999', 'all', '*', '127.0.0.1', '[::1]:80', 'mindblown', 'a=b', '100',
  'proportional', 'documented', 'normalization@5', 'segwit@-1', 'takeoverworkaround@1-5', '500,600', 'csv:0:999999999999', '%s',
  '\u00e9', '\ud83d\ude00', '9'.repeat(400),
] as const; // prettier-ignore

function randomSetting(random: Random): { name: string; value: string } {
  const known = random.pick(ROWS).name;
  const name = random.pick([
    known,
    known,
    known,
    known,
    `no${known}`,
    `nono${known}`,
    `regtest.${known}`,
    'nothing',
    '',
    'no',
  ]);
  return { name, value: random.pick(VALUES) };
}

function randomLine(random: Random): string {
  const { name, value } = randomSetting(random);
  switch (random.below(12)) {
    case 0:
      return random.pick([
        '[main]',
        '[test]',
        '[regtest]',
        '[lbrycrdreg]',
        '[',
        '[]',
        '[[main]]',
        '[a.b]',
        '[__proto__]',
      ]);
    case 1:
      return `# ${name}`;
    case 2:
      return name;
    case 3:
      return `-${name}=${value}`;
    case 4:
      return `\t ${name} = ${value}\r`;
    case 5:
      return `${name}=${value}#${value}`;
    case 6:
      return '';
    case 7:
      return random.pick(['regtest=1', 'testnet=1', 'regtest=0', 'main.regtest=1', 'prune=1', 'txindex=1']);
    default:
      return `${name}=${value}`;
  }
}

export const configTarget: Target<string> = {
  name: 'configuration file',
  make(random) {
    if (random.chance(15)) return noise(random, 200).toString('latin1');
    const text = Array.from({ length: random.below(8) }, () => randomLine(random)).join('\n');
    return random.chance(4) ? mutateBytes(random, Buffer.from(text)).toString('utf8') : text;
  },
  check: checkConfigText,
  show: (text) => JSON.stringify(text),
};

export const commandLineTarget: Target<string[]> = {
  name: 'command line',
  make(random) {
    return Array.from({ length: random.below(5) }, () => {
      const { name, value } = randomSetting(random);
      const dashes = random.pick(['-', '-', '-', '--', '', '---']);
      const word = random.chance(4) ? `${dashes}${name}` : `${dashes}${name}=${value}`;
      return random.chance(8) ? mutateBytes(random, Buffer.from(word)).toString('latin1') : word;
    });
  },
  check: checkWords,
  show: (words) => JSON.stringify(words),
};
