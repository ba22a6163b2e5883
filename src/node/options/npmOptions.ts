/**
 * Detects options that npm has consumed: `npm start --regtest` starts the program without the option, so it would use the
 * main network.
 */
import { nearestWord } from '../../util/nearest.js';
import { OptionError } from './optionArgs.js';
import { OPTION_ROWS } from './optionsTable.js';

/**
 * Options of this node whose names npm uses too. Their environment variables may come from npm's own configuration, so they
 * are not checked.
 */
const OF_NPM: ReadonlySet<string> = new Set(['?', 'color', 'h', 'help', 'proxy', 'version']);
const PREFIX = 'npm_config_';
/** Name of this package. The check applies only to its start script, which runs the node. */
const OWN_PACKAGE = 'lbcnode';

/** Throws an `OptionError` if options of this node were given to `npm start` without `--` before them. */
export function refuseSwallowed(env: Readonly<Record<string, string | undefined>>): void {
  if (env['npm_package_name'] !== OWN_PACKAGE || env['npm_lifecycle_event'] !== 'start') return;
  const names = OPTION_ROWS.map((row) => row.name as string).filter((name) => !OF_NPM.has(name));
  const swallowed = names.flatMap((name) => {
    const variable = `${PREFIX}${name.replaceAll('-', '_')}`;
    const negated = `${PREFIX}no${name.replaceAll('-', '_')}`;
    if (env[variable] !== undefined) return [shown(name, env[variable])];
    // `--noproxy` is not checked, because npm has an option of this name.
    return env[negated] === undefined || name === 'proxy' ? [] : [shown(`no${name}`, env[negated])];
  });
  if (swallowed.length === 0) return refuseMistypedNetwork(env);
  throw new OptionError(
    `npm interpreted ${swallowed.join(' ')} as its own options, and nothing was started. Put them after ` +
      `two dashes: npm start -- ${swallowed.join(' ')}`,
  );
}

/**
 * Throws an `OptionError` if npm took a mistyped network option for its own, because the node would use the main network.
 * Other words that npm does not know are ignored.
 */
function refuseMistypedNetwork(env: Readonly<Record<string, string | undefined>>): void {
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith(PREFIX)) continue;
    const name = variable.slice(PREFIX.length);
    const network = nearestWord(name, ['regtest', 'testnet']);
    if (network === null) continue;
    throw new OptionError(
      `npm interpreted --${name} as its own option, and nothing was started. Did you mean npm start -- --${network}?`,
    );
  }
}

/** Returns an option as it was typed. npm stores a switch as `true`, and a negated switch as an empty text. */
function shown(name: string, value: string): string {
  if (value === 'true') return `--${name}`;
  return value === '' ? `--no${name}` : `--${name}=${value}`;
}
