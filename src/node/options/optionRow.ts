/**
 * The type of a row of the options table, and the builders that keep each option on one line of the table. No values, no
 * parsing.
 */

/** Groups of `-help`, in its order, with their headings. */
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
 * How a value is read: `bool` as a switch, `int` as a decimal integer, `amount` as coins, `string` unchanged, `list` as all
 * occurrences of a repeatable option.
 */
export type OptionKind = 'bool' | 'int' | 'amount' | 'string' | 'list';

/**
 * The format of the values of a `string` or `list` option, checked by `optionFormats.ts`. `override` is checked with the
 * regtest rules, and `payoutAddress` with the network; `logCategory` causes a warning when the log is created. `command` and
 * `text` allow any text.
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
  /** Option name without the dash. */
  readonly name: string;
  readonly kind: OptionKind;
  /** Undefined if the default depends on the network or on other options; `help` describes it. */
  readonly default: boolean | number | bigint | string | undefined;
  /** Text after the `=` in help: `<n>`. */
  readonly valueName?: string;
  readonly help: string;
  /** Shown by `-help-debug` only. */
  readonly debugOnly?: boolean;
  /** In the file's default section it applies to main only. Source: `m_network_only_args`. */
  readonly networkOnly?: boolean;
  /** The allowed values, if they are few. */
  readonly choices?: readonly string[];
  /** Minimum and maximum; a value outside is clamped, as in the reference, with a warning. */
  readonly clamp?: readonly [min: number, max: number];
  /** Minimum and maximum; a value outside is rejected. Every `int` has this or `clamp`. */
  readonly range?: readonly [min: number, max: number];
  /** Value of an `int` option given without one; absent if a value is required. */
  readonly bare?: number;
  /** Every `string` without `choices` and every `list` has one. */
  readonly format?: OptionFormat;
  /** Whether a `path` may be negated: then there is no such file. */
  readonly mayBeNone?: boolean;
}

/** The range of counts and sizes. */
export const COUNT = { range: [0, 0x7fffffff] } as const;
/** The range of values that other checks limit, with the reference's messages. */
export const INTEGER = { range: [-0x80000000, 0x7fffffff] } as const;

type Extra = Omit<OptionRow, 'name' | 'kind' | 'default' | 'help' | 'valueName'>;

/** Splits `dbcache=<n>` into the name and the value's name. */
function split<S extends string>(spec: S): { name: NameOf<S>; valueName?: string } {
  const equals = spec.indexOf('=');
  if (equals < 0) return { name: spec as unknown as NameOf<S> };
  return { name: spec.slice(0, equals) as NameOf<S>, valueName: spec.slice(equals + 1) };
}
type NameOf<S extends string> = S extends `${infer Name}=${string}` ? Name : S;

/** A switch; `undefined` if its default is determined elsewhere. */
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

/** An amount in coins; the value is in satoshis. */
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

/** A repeatable option: every value given, in order. */
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

/** The values of the options of a table, by name. */
export type OptionValues<Table extends readonly OptionRow[]> = {
  readonly [R in Table[number] as R['name']]: ValueOf<R>;
};
