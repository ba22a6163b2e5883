/**
 * Type of a row of the options table, and functions that create rows in one line each. Contains no values and no parser.
 */

/** Groups of options in `-help`, in order of output, with their headings. */
export const OPTION_CATEGORIES = {
  options: 'Options:',
  connection: 'Connection options:',
  wallet: 'Wallet options:',
  wallet_debug_test: 'Wallet debugging/testing options:',
  zmq: 'ZeroMQ notification options:',
  debug_test: 'Debugging/Testing options:',
  chainparams: 'Chain selection options:',
  node_relay: 'Node relay options:',
  block_creation: 'Block creation options:',
  rpc: 'RPC server options:',
  hub: 'Hub options:',
  explorer: 'Explorer options:',
  hidden: '',
} as const;
export type OptionCategory = keyof typeof OPTION_CATEGORIES;

/**
 * Type of an option's value. `bool` is a switch, `int` a decimal integer, `amount` a number of coins, `string` any text, and
 * `list` a repeatable option with all its values.
 */
export type OptionKind = 'bool' | 'int' | 'amount' | 'string' | 'list';

/**
 * Format of the values of a `string` or `list` option, checked by `optionFormats.ts`. `override` is checked when the regtest
 * rules are built, and `payoutAddress` when the network is known. An invalid `logCategory` causes only a warning, when the
 * log is created. `command` and `text` allow any text.
 */
export type OptionFormat =
  | 'address'
  | 'bindHost'
  | 'blockHash'
  | 'chainWork'
  | 'claimIds'
  | 'command'
  | 'country'
  | 'decimal'
  | 'externalHost'
  | 'hostName'
  | 'hostPort'
  | 'hubPeer'
  | 'logCategory'
  | 'network'
  | 'override'
  | 'path'
  | 'pattern'
  | 'payoutAddress'
  | 'peer'
  | 'postgresUrl'
  | 'proofWindow'
  | 'proxy'
  | 'replacement'
  | 'rpcAllowIp'
  | 'rpcAuth'
  | 'schemaName'
  | 'sha256'
  | 'subnet'
  | 'text'
  | 'userAgentComment'
  | 'zmqAddress';

export interface OptionRow {
  /** Name of the option without the leading dash. */
  readonly name: string;
  readonly kind: OptionKind;
  /** Default value. Undefined if the default depends on the network or on other options; `help` then describes it. */
  readonly default: boolean | number | bigint | string | undefined;
  /** Placeholder of the value in the help text, such as `<n>`. */
  readonly valueName?: string;
  readonly help: string;
  /** Whether the option is shown by `-help-debug` only. */
  readonly debugOnly?: boolean;
  /**
   * Whether the option applies only to the main network if it is in the default section of the file. Source:
   * `m_network_only_args`.
   */
  readonly networkOnly?: boolean;
  /** Allowed values, if there are only a few. */
  readonly choices?: readonly string[];
  /** Minimum and maximum. A value outside the range is replaced by the nearest limit with a warning, as in the reference. */
  readonly clamp?: readonly [min: number, max: number];
  /**
   * Minimum and maximum of the value, in the unit of the option. A value outside the range is rejected. Every `int` option
   * has either `range` or `clamp`.
   */
  readonly range?: readonly [min: number, max: number];
  /** Value of an `int` option that is given without a value. If absent, a value is required. */
  readonly bare?: number;
  /** Format of the values. Required for every `list`, and for every `string` without `choices`. */
  readonly format?: OptionFormat;
  /** Whether a `path` option may be negated, which means that the file is not used. */
  readonly mayBeNone?: boolean;
}

/** Range of options that are counts or sizes. */
export const COUNT = { range: [0, 0x7fffffff] } as const;
/** Range of integer options whose limits are checked elsewhere, with the reference's messages. */
export const INTEGER = { range: [-0x80000000, 0x7fffffff] } as const;

type Extra = Omit<OptionRow, 'name' | 'kind' | 'default' | 'help' | 'valueName'>;

/** Splits `dbcache=<n>` into the option name and the placeholder of its value. */
function split<S extends string>(spec: S): { name: NameOf<S>; valueName?: string } {
  const equals = spec.indexOf('=');
  if (equals < 0) return { name: spec as unknown as NameOf<S> };
  return { name: spec.slice(0, equals) as NameOf<S>, valueName: spec.slice(equals + 1) };
}
type NameOf<S extends string> = S extends `${infer Name}=${string}` ? Name : S;

/** Row of a switch. If the default is `undefined`, other code determines the value. */
export function bool<S extends string, D extends boolean | undefined>(
  spec: S,
  byDefault: D,
  help: string,
  extra: Extra = {},
) {
  return { ...split(spec), kind: 'bool' as const, default: byDefault, help, ...extra };
}

export function int<S extends string, D extends number | undefined>(
  spec: S,
  byDefault: D,
  help: string,
  extra: Extra = {},
) {
  return { ...split(spec), kind: 'int' as const, default: byDefault, help, ...extra };
}

/** Row of an option for an amount. The text is in coins, the value in satoshis. */
export function amount<S extends string, D extends bigint | undefined>(
  spec: S,
  byDefault: D,
  help: string,
  extra: Extra = {},
) {
  return { ...split(spec), kind: 'amount' as const, default: byDefault, help, ...extra };
}

export function text<S extends string, D extends string | undefined>(
  spec: S,
  byDefault: D,
  help: string,
  extra: Extra = {},
) {
  return { ...split(spec), kind: 'string' as const, default: byDefault, help, ...extra };
}

/** Creates a repeatable option, whose value is the list of all given values in order. */
export function list<S extends string>(spec: S, help: string, extra: Extra = {}) {
  return { ...split(spec), kind: 'list' as const, default: undefined, help, ...extra };
}

/** Whether an option is repeatable. */
export function isRepeatable(row: OptionRow): boolean {
  return row.kind === 'list';
}

type ValueOf<R extends OptionRow> = R['kind'] extends 'list'
  ? readonly string[]
  : R['default'] extends undefined
    ? { bool: boolean; int: number; amount: bigint; string: string; list: never }[R['kind']] | undefined
    : { bool: boolean; int: number; amount: bigint; string: string; list: never }[R['kind']];

/** Type of an object with the values of all options of a table, by name. */
export type OptionValues<Table extends readonly OptionRow[]> = {
  readonly [R in Table[number] as R['name']]: ValueOf<R>;
};
