/** Detects options that npm has consumed: `npm start --regtest` starts the program without the option, and would start main. */
import { nearestWord } from '../../util/nearest.js';
import { OptionError } from './optionArgs.js';
import { OPTION_ROWS } from './optionsTable.js';

/** Options that npm has too: they may come from npm's own configuration. */
const OF_NPM: ReadonlySet<string> = new Set(['?', 'color', 'h', 'help', 'proxy', 'version']);
const PREFIX = 'npm_config_';
/** The package whose start script only runs the node. */
const OWN_PACKAGE = 'lbcnode';

/** Throws an `OptionError` when `npm start` was given our options before the `--`. */
export function refuseSwallowed(env: Readonly<Record<string, string | undefined>>): void {
  if (env['npm_package_name'] !== OWN_PACKAGE || env['npm_lifecycle_event'] !== 'start') return;
  const names = OPTION_ROWS.map((row) => row.name as string).filter((name) => !OF_NPM.has(name));
  const swallowed = names.flatMap((name) => {
    const variable = `${PREFIX}${name.replaceAll('-', '_')}`;
    const negated = `${PREFIX}no${name.replaceAll('-', '_')}`;
    if (env[variable] !== undefined) return [shown(name, env[variable])];
    // `noproxy` is an option of npm.
    return env[negated] === undefined || name === 'proxy' ? [] : [shown(`no${name}`, env[negated])];
  });
  if (swallowed.length === 0) return refuseMistypedNetwork(env);
  throw new OptionError(
    `npm took ${swallowed.join(' ')} for options of its own, so that nothing was started. Put them behind two dashes: npm start -- ${swallowed.join(' ')}`,
  );
}

/** Otherwise main would be started instead of the intended network. Other words unknown to npm are harmless. */
function refuseMistypedNetwork(env: Readonly<Record<string, string | undefined>>): void {
  for (const variable of Object.keys(env)) {
    if (!variable.startsWith(PREFIX)) continue;
    const name = variable.slice(PREFIX.length);
    const network = nearestWord(name, ['regtest', 'testnet']);
    if (network === null) continue;
    throw new OptionError(
      `npm took --${name} for an option of its own, so that nothing was started. Did you mean npm start -- --${network}?`,
    );
  }
}

/** npm writes a switch as `true`, and a negated one as an empty text. */
function shown(name: string, value: string): string {
  if (value === 'true') return `--${name}`;
  return value === '' ? `--no${name}` : `--${name}=${value}`;
}
