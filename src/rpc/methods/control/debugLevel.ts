/**
 * `debuglevel`: lbcd's method that changes log levels by lbcd's subsystem names. Source: lbcd config.go
 * `parseAndSetDebugLevels`.
 */
import type { LogCategory, LogControl } from '../../../util/logging.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

/** lbcd's subsystems with the corresponding log categories of this node. Empty if this node has no corresponding debug log. */
const SUBSYSTEMS: Readonly<Record<string, readonly LogCategory[]>> = {
  ADXR: ['addrman'],
  AMGR: ['addrman'],
  BCDB: ['db', 'leveldb', 'coindb'],
  CHAN: ['bench', 'prune', 'reindex'],
  CMGR: ['net', 'proxy', 'tor'],
  DISC: ['net'],
  INDX: ['db'],
  LBRY: ['claims'],
  MAIN: [],
  MINR: ['rpc'],
  PEER: ['net'],
  RPCS: ['http', 'rpc', 'zmq'],
  SCRP: [],
  SRVR: ['net'],
  SYNC: ['net', 'cmpctblock'],
  TXMP: ['mempool', 'mempoolrej', 'estimatefee'],
};

/** lbcd's log levels, and whether each includes this node's debug log. */
const LEVELS: Readonly<Record<string, boolean>> = {
  trace: true,
  debug: true,
  info: false,
  warn: false,
  error: false,
  critical: false,
  off: false,
};

const ALL = Object.keys(SUBSYSTEMS);

function refuse(message: string): RpcError {
  return rpcError(RPC_ERROR.INVALID_PARAMS, message);
}

function levelOf(text: string): boolean {
  const level = Object.hasOwn(LEVELS, text) ? LEVELS[text] : undefined;
  if (level === undefined) throw refuse(`The specified debug level [${text}] is invalid`);
  return level;
}

function categoriesOf(subsystem: string): readonly LogCategory[] {
  const categories = Object.hasOwn(SUBSYSTEMS, subsystem) ? SUBSYSTEMS[subsystem] : undefined;
  if (categories) return categories;
  throw refuse(`The specified subsystem [${subsystem}] is invalid -- supported subsytems [${ALL.join(' ')}]`);
}

/** Applies pairs of subsystem and level in order. If a pair is invalid, the pairs before it remain in effect. */
function switchLevels(control: LogControl, spec: string): void {
  if (!/[,=]/.test(spec)) {
    const enabled = levelOf(spec);
    control.setCategory('all', enabled);
    return;
  }
  for (const pair of spec.split(',')) {
    if (!pair.includes('='))
      throw refuse(`The specified debug level contains an invalid subsystem/level pair [${pair}]`);
    const [subsystem = '', level = ''] = pair.split('=');
    const categories = categoriesOf(subsystem);
    const enabled = levelOf(level);
    for (const category of categories) control.setCategory(category, enabled);
  }
}

export const debugLevel = defineMethod({
  name: 'debuglevel',
  category: 'control',
  chainUse: 'none',
  summary:
    'Sets the debug log level: "trace" or "debug" turn debug logging on, and "info", "warn", "error", ' +
    '"critical" or "off" turn it off, for all subsystems or for some of them (<subsystem>=<level>,...). ' +
    '"show" lists the subsystems.\n' +
    `The subsystems are: ${ALL.join(', ')}.`,
  params: [
    {
      name: 'levelspec',
      type: 'string',
      required: true,
      description: 'A level, a comma-separated list of <subsystem>=<level>, or "show"',
    },
  ],
  result: t.str('"Done.", or the list of subsystems'),
  examples: [['"debug"'], ['"PEER=debug,TXMP=off"']],
  profiles: ['lbcd'],
  run({ services: { logging } }, { levelspec }) {
    if (levelspec === 'show') return `Supported subsystems [${ALL.join(' ')}]`;
    switchLevels(logging, levelspec);
    return 'Done.';
  },
});
