/**
 * The declaration of a method of the daemon. Reading of parameters, help, command line, OpenRPC document, reference and
 * typed client derive from it. It is data only; `implement` binds the code to it.
 *
 *   export const accountRemove = declareMethod({
 *     name: 'account_remove',
 *     group: 'account',
 *     summary: 'Remove an account from the wallet.',
 *     usage: ["(<account_id> | --account_id=<account_id>)", "[--wallet_id=<wallet_id>]"],
 *     params: [required(accountId), walletId],
 *     result: account,
 *     needs: ['wallet'],
 *   });
 */
import type { Schema } from '../../schema/schema.js';

/** Groups of commands on the command line, in the order of the help text. A method without a group is called by its own name. */
export const GROUPS = {
  account: 'Create, modify and inspect the accounts of a wallet.',
  address: 'List, create and check addresses.',
  blob: 'Manage blobs.',
  channel: 'Create, update, abandon and list channels.',
  claim: 'List and search claims of every type.',
  collection: 'Create, update, abandon, list and resolve collections.',
  file: 'Manage files.',
  peer: 'List and ping peers of the DHT and of the blob exchange.',
  preference: 'Read and write the preferences in a wallet.',
  purchase: 'Buy claims and list purchases.',
  settings: 'Read and write the settings.',
  stream: 'Create, update, repost, abandon and list streams.',
  support: 'Create, abandon and list supports and tips.',
  sync: 'Synchronize a wallet between devices.',
  tracemalloc: 'Sample memory allocations of the daemon.',
  transaction: 'List and show transactions.',
  txo: 'List, sum up and spend transaction outputs.',
  utxo: 'List and release unspent transaction outputs.',
  wallet: 'Create, open, lock and inspect wallets.',
} as const;

export type Group = keyof typeof GROUPS;

/** Parts of the daemon that a method may need running. Source: lbry-sdk lbry/extras/daemon/components.py. */
export const COMPONENT_NAMES = [
  'database',
  'wallet',
  'wallet_server_payments',
  'blob_manager',
  'upnp',
  'dht',
  'hash_announcer',
  'file_manager',
  'disk_space',
  'background_downloader',
  'peer_protocol_server',
  'exchange_rate_manager',
  'tracker_announcer_component',
  'libtorrent_component',
] as const;

export type ComponentName = (typeof COMPONENT_NAMES)[number];

/**
 * Types of parameters and what `args` holds (`paramReading.ts`):
 * - `str`: string; a number or boolean is converted to text, since the command line sends digits as numbers
 * - `int`, `float`: number; `bool`: boolean (of numbers, whether they are not zero)
 * - `lbc`: amount as text, given as bigint of dewies; `positiveLbc`: more than zero
 * - `strOrList`: one string or a list of them, given as a list; an empty list counts as not given
 * - `constraint`: a number, a text such as `">=5"`, or a list of these, given as a list of texts
 * - `list`: array of any values; `dict`: object; `any`: any JSON value, null too
 */
export type ParamType =
  | 'str'
  | 'int'
  | 'float'
  | 'bool'
  | 'lbc'
  | 'positiveLbc'
  | 'strOrList'
  | 'constraint'
  | 'list'
  | 'dict'
  | 'any';

export interface ParamDeclaration {
  readonly name: string;
  readonly type: ParamType;
  readonly description: string;
  readonly required?: true;
  /** Value that `args` contains if the caller passes the parameter as null or not at all. */
  readonly default?: unknown;
  /** A null is an error (`InputValueIsNoneError`) instead of counting as absent. */
  readonly refusesNull?: true;
  /** An empty text counts as absent. */
  readonly emptyIsAbsent?: true;
  /**
   * A filter of files. A null matches files without a value and an empty list matches no file, so that neither makes a method
   * change all files. Source: lbry-sdk lbry/file/source_manager.py `get_filtered`.
   */
  readonly isFileFilter?: true;
}

export interface MethodDeclaration {
  readonly name: string;
  /** Group of the command line; null if the command line calls the method by its own name. */
  readonly group: Group | null;
  /** One sentence: the first line of help. */
  readonly summary: string;
  /** Additional paragraphs of the help text. */
  readonly details?: readonly string[];
  /**
   * Arguments of the method on the command line, in docopt's grammar, without the names of the program and the method. Each
   * element is one line of the help text.
   */
  readonly usage: readonly string[];
  /** Parameters in the order in which a call passes them by position. */
  readonly params: readonly ParamDeclaration[];
  readonly result: Schema;
  readonly needs: readonly ComponentName[];
  /** Whether the method accepts parameters that are not declared. They are passed in `args.others`. */
  readonly freeKeywords?: true;
}

/** An older name of a method that is still accepted. */
export interface MethodAlias {
  readonly name: string;
  readonly replacedBy: string;
}

/**
 * Identity function. The type parameter is `const`, so that the literal types stay from which `ArgsOf` derives the types of
 * the arguments.
 */
export function declareMethod<const D extends MethodDeclaration>(declaration: D): D {
  return declaration;
}

/** Declares a parameter that several methods share. */
export function declareParam<const P extends ParamDeclaration>(param: P): P {
  return param;
}

/** Returns a copy of the parameter's declaration, marked as a filter of files. */
export function fileFilterOf<const P extends ParamDeclaration>(
  param: P,
): P & { readonly isFileFilter: true } {
  return { ...param, isFileFilter: true };
}

/** Returns a copy of the parameter's declaration, marked as required. */
export function required<const P extends ParamDeclaration>(param: P): P & { readonly required: true } {
  return { ...param, required: true };
}
