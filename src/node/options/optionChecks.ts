/**
 * Interactions of options: some options set or exclude other options, and some values are derived from other options.
 * Source: `InitParameterInteraction`, `AppInitParameterInteraction`. Creates no service; each service reads its own options
 * from the result.
 */
import { hasSqlite } from '../../sqlite/sqliteProvider.js';
import { availableParallelism } from 'node:os';
import type { NetworkParams } from '../../params/network.js';
import { networkParams } from '../../params/networks.js';
import { OverrideError, regtestWith } from '../../params/regtest.js';
import type { ReachableNetwork } from '../../interfaces/services.js';
import { addressPrefixesOf, decodeDestination } from '../../script/address.js';
import { scriptForDestination } from '../../script/standard.js';
import { hashFromHex, type Bytes } from '../../util/bytes.js';
import { reachableNetworks, userAgent } from './networkSettings.js';
import { checkFees } from './feeChecks.js';
import { interpretBool, OptionError, type NetworkSection, type OptionArgs } from './optionArgs.js';
import { MAX_SCRIPT_THREADS, MIN_PRUNE_TARGET_MIB, type OptionName, type Options } from './optionsTable.js';

const MIB = 1024 * 1024;

/** Pruning mode: determines which blocks may be deleted. */
export type PruneMode =
  | { readonly kind: 'off' }
  | { readonly kind: 'manual' }
  | { readonly kind: 'automatic'; readonly targetBytes: number };

/** Values that are derived from several options. */
export interface DerivedOptions {
  readonly dbCacheBytes: number;
  readonly claimTrieCacheBytes: number;
  readonly signatureCacheBytes: number;
  /** Number of script verification threads. 1 means that only the main thread verifies. */
  readonly scriptThreads: number;
  readonly prune: PruneMode;
  /** Whether compact block filters are indexed. */
  readonly keepsBlockFilters: boolean;
  /** Number of the latest blocks for which name proofs are available; Infinity for all blocks. */
  readonly claimProofWindowBlocks: number;
  /** Id of the block whose ancestors' scripts are assumed valid, in wire order. Null if all scripts are verified. */
  readonly assumeValid: Bytes | null;
  readonly minimumChainWork: bigint;
  readonly userAgent: string;
  readonly networks: readonly ReachableNetwork[];
  /** Output scripts of the `-miningaddress` addresses. */
  readonly payoutScripts: readonly Bytes[];
}

/** Indexes that `-esplora` enables. */
const ESPLORA_NEEDS = ['txindex', 'addressindex', 'spendindex'] as const;

/** Indexes that `-hub` needs for its responses. */
const HUB_NEEDS = ['txindex', 'addressindex', 'claimindex', 'claimsearch'] as const;

interface Interaction {
  readonly when: OptionName;
  /**
   * How the condition is tested. With `asSwitch`, the switch must have `value`; without it, the operator must have given the
   * option.
   */
  readonly asSwitch?: { readonly byDefault: boolean; readonly value: boolean };
  readonly set: readonly (readonly [OptionName, '0' | '1'])[];
}

/** Interactions in order of application. An earlier interaction may decide whether a later one applies. */
const INTERACTIONS: readonly Interaction[] = [
  { when: 'claimsearchurl', set: [['claimsearch', '1']] },
  { when: 'claimsearch', asSwitch: { byDefault: false, value: true }, set: [['claimindex', '1']] },
  {
    when: 'lightwallets',
    asSwitch: { byDefault: false, value: true },
    set: [['blockfilterindex', '1'], ['peerblockfilters', '1']], // prettier-ignore
  },
  { when: 'bind', set: [['listen', '1']] },
  { when: 'whitebind', set: [['listen', '1']] },
  { when: 'connect', set: [['dnsseed', '0'], ['listen', '0']] }, // prettier-ignore
  { when: 'proxy', set: [['listen', '0'], ['upnp', '0'], ['discover', '0']] }, // prettier-ignore
  {
    when: 'listen',
    asSwitch: { byDefault: true, value: false },
    set: [['upnp', '0'], ['discover', '0'], ['listenonion', '0']], // prettier-ignore
  },
  { when: 'externalip', set: [['discover', '0']] },
  { when: 'blocksonly', asSwitch: { byDefault: false, value: true }, set: [['whitelistrelay', '0']] },
  { when: 'whitelistforcerelay', asSwitch: { byDefault: true, value: true }, set: [['whitelistrelay', '1']] },
  {
    when: 'hub',
    asSwitch: { byDefault: false, value: true },
    set: HUB_NEEDS.map((name) => [name, '1'] as const),
  },
  {
    when: 'esplora',
    asSwitch: { byDefault: false, value: true },
    set: ESPLORA_NEEDS.map((name) => [name, '1'] as const),
  },
];

/** Indexes that lbcd has by default. */
const LBCD_NEEDS = ['txindex', 'blockfilterindex'] as const;

/**
 * Sets options that other options imply, unless the operator set them. Returns a log line for each change. A warning about an
 * option that has no effect is appended to `warnings`.
 */
export function applyInteractions(args: OptionArgs, warnings: string[]): string[] {
  const notes: string[] = [];
  for (const { when, asSwitch, set } of INTERACTIONS) {
    if (!applies(args, when, asSwitch)) continue;
    const cause = asSwitch === undefined ? `-${when} set` : `-${when}=${asSwitch.value ? 1 : 0}`;
    for (const [name, value] of set) {
      if (args.set(name, value, true))
        notes.push(`parameter interaction: ${cause} -> setting -${name}=${value}`);
    }
  }
  if (!args.isSet('minrelaytxfee') && args.isSet('incrementalrelayfee')) raiseMinRelayFee(args, notes);
  if (interpretBool(args.value('explorer') ?? '0')) addExplorerNeeds(args, notes);
  if (args.value('compat') === 'lbcd' && !interpretBool(args.value('prune') ?? '0'))
    for (const name of LBCD_NEEDS)
      if (args.set(name, '1', true)) notes.push(`parameter interaction: -compat=lbcd -> setting -${name}=1`);
  if (interpretBool(args.value('rpcallowall') ?? '0')) allowAllAddresses(args, notes, warnings);
  return notes;
}

/**
 * Allows RPC clients from all addresses, as lbcd does if `rpclisten` has an address beyond the local host. lbcd uses TLS
 * there by default, so the operator must have set `-tls` or `-notls`, or the profile lbcd, which turns TLS on.
 */
function allowAllAddresses(args: OptionArgs, notes: string[], warnings: string[]): void {
  if (args.isSet('rpcallowip')) return;
  if (!args.isSet('tls') && args.value('compat') !== 'lbcd') {
    warnings.push(
      'RPC accepts only clients on this machine, although rpclisten has another address: add -notls for plain ' +
        'HTTP as with lbcd, or -tls or -compat=lbcd for TLS.',
    );
    return;
  }
  args.set('rpcallowip', ['0.0.0.0/0', '::/0'], false);
  const hasWallet = !interpretBool(args.value('disablewallet') ?? '0');
  warnings.push(
    'RPC accepts clients from all addresses, as lbcd does with this rpclisten. -rpcallowip limits them.' +
      (hasWallet ? ' Clients with the password can use the wallet too; -disablewallet turns it off.' : ''),
  );
  notes.push(
    'parameter interaction: rpclisten of lbcd -> setting -rpcallowip=0.0.0.0/0 and -rpcallowip=::/0',
  );
}

/**
 * Enables the indexes that add content to the explorer's pages. On a pruned node only the indexes that need no old blocks
 * are enabled. The search needs the claim index, so it stays off if that index is turned off.
 */
function addExplorerNeeds(args: OptionArgs, notes: string[]): void {
  const prunes = interpretBool(args.value('prune') ?? '0');
  const indexes = interpretBool(args.value('claimindex') ?? '1');
  const needs = [
    ...(prunes ? [] : ['txindex', 'addressindex', 'spendindex']),
    'claimindex',
    ...(hasSqlite() && indexes ? ['claimsearch'] : []),
  ];
  for (const name of needs)
    if (args.set(name, '1', true)) notes.push(`parameter interaction: -explorer=1 -> setting -${name}=1`);
}

function applies(args: OptionArgs, name: OptionName, asSwitch: Interaction['asSwitch']): boolean {
  if (asSwitch === undefined) return args.isSet(name);
  const given = args.value(name);
  return (given === undefined ? asSwitch.byDefault : interpretBool(given)) === asSwitch.value;
}

/** Raises the minimum relay fee to the incremental relay fee if the latter exceeds the default minimum. */
function raiseMinRelayFee(args: OptionArgs, notes: string[]): void {
  const step = args.value('incrementalrelayfee') ?? '';
  if (!(Number(step) > DEFAULT_MIN_RELAY_COINS)) return;
  args.set('minrelaytxfee', step, true);
  notes.push(`Increasing minrelaytxfee to ${step} to match incrementalrelayfee`);
}
const DEFAULT_MIN_RELAY_COINS = 0.00001;

/** Returns the network's parameters, with changes made by options. Only regtest allows changes. */
export function paramsFor(network: NetworkSection, args: OptionArgs, options: Options): NetworkParams {
  if (network !== 'regtest') {
    if (options.vbparams.length > 0) {
      throw new OptionError('Version bits parameters may only be overridden on regtest.', 'vbparams');
    }
    for (const name of ['supportdelay', 'forkheight', 'claimexpiration', 'assumevaliddepth'] as const) {
      if (args.isSet(name))
        throw new OptionError(
          `-${name} may only be given on regtest: ${network} follows the deployed network.`,
          name,
        );
    }
    return networkParams(network);
  }
  try {
    return regtestWith({
      forkHeights: options.forkheight,
      claimExpiration: options.claimexpiration,
      assumeValidDepthSec: options.assumevaliddepth,
      vbParams: options.vbparams,
    });
  } catch (error) {
    if (error instanceof OverrideError) throw overrideRefusal(error, options);
    throw error;
  }
}

/** Creates the error for an invalid change of regtest parameters. Names the option if only one can be the cause. */
function overrideRefusal({ message }: OverrideError, options: Options): OptionError {
  const { forkheight, vbparams, claimexpiration } = options;
  const changes = [
    ...forkheight.map((value) => ['forkheight', value, { forkHeights: [value] }] as const),
    ...vbparams.map((value) => ['vbparams', value, { vbParams: [value] }] as const),
    ['claimexpiration', claimexpiration, { claimExpiration: claimexpiration }] as const,
  ];
  const invalid = changes.find(([, , change]) => {
    try {
      regtestWith(change);
      return false;
    } catch {
      return true;
    }
  });
  return new OptionError(message, invalid?.[0], invalid?.[1]);
}

/** Whether compact block filters are indexed. Only the type `basic` exists. Source: Core 0.21 init.cpp. */
function blockFilterTypes(value: string): boolean {
  if (value === '0') return false;
  if (['', '1', 'basic'].includes(value)) return true;
  throw new OptionError(`Unknown -blockfilterindex value ${value}.`, 'blockfilterindex');
}

/** Rejects incompatible options and computes derived values. Warnings about questionable options are appended to `warnings`. */
export function checkOptions(
  args: OptionArgs,
  options: Options,
  params: NetworkParams,
  warnings: string[],
): DerivedOptions {
  refuseRetired(args, options, warnings);
  checkHub(options, params);
  checkEsplora(options);
  if (options.prune !== 0 && options.txindex)
    throw new OptionError('Prune mode is incompatible with -txindex.', 'prune');
  if (options.bind.length + options.whitebind.length > 0 && !options.listen) {
    const inFile = (['listen', 'bind', 'whitebind'] as const).find((name) => args.placeOf(name) !== '');
    throw new OptionError('Cannot set -bind or -whitebind together with -listen=0', inFile);
  }
  for (const name of ['port', 'rpcport', 'walletrpcport'] as const) {
    const port = options[name];
    if (port !== undefined && (port < 0 || port > 0xffff))
      throw new OptionError(`Invalid port specified in -${name}: '${args.value(name)}'`, name);
  }
  const keepsBlockFilters = blockFilterTypes(options.blockfilterindex);
  if (options.peerblockfilters && !keepsBlockFilters)
    throw new OptionError('Cannot set -peerblockfilters without -blockfilterindex.', 'peerblockfilters');
  const leastMempoolMb = Math.ceil((options.limitdescendantsize * 1000 * 40) / 1e6);
  if (options.maxmempool < 0 || options.maxmempool < leastMempoolMb) {
    throw new OptionError(`-maxmempool must be at least ${leastMempoolMb} MB`, 'maxmempool');
  }
  checkFees(args, options, warnings);
  if (options.rpcserialversion < 0)
    throw new OptionError('rpcserialversion must be non-negative.', 'rpcserialversion');
  if (options.rpcserialversion > 1)
    throw new OptionError('unknown rpcserialversion requested.', 'rpcserialversion');
  if (options.rpcuser !== '' && options.rpcpassword === '') {
    warnings.push(
      '-rpcuser has no effect without -rpcpassword: clients need the cookie, or a password of -rpcauth.',
    );
  }
  if (params.requireStandard && options.acceptnonstdtxn === true) {
    throw new OptionError(
      `acceptnonstdtxn is not currently supported for ${params.referenceName} chain`,
      'acceptnonstdtxn',
    );
  }
  return {
    dbCacheBytes: options.dbcache * MIB,
    claimTrieCacheBytes: options.claimtriecache * MIB,
    signatureCacheBytes: options.maxsigcachesize * MIB,
    scriptThreads: scriptThreads(options.par, availableParallelism()),
    prune: pruneMode(options.prune),
    keepsBlockFilters,
    claimProofWindowBlocks: proofWindow(options.claimproofwindow),
    assumeValid: options.assumevalid === undefined ? params.assumeValid : assumedBlock(options.assumevalid),
    minimumChainWork:
      options.minimumchainwork === undefined
        ? params.minimumChainWork
        : leastChainWork(options.minimumchainwork),
    userAgent: userAgent(options.uacomment),
    networks: reachableNetworks(args, options),
    payoutScripts: options.miningaddress.map((address) => payoutScript(address, params)),
  };
}

/** Checks the requirements of the hub and the claim search, and the hub options whose validity depends on the network. */
function checkHub(options: Options, params: NetworkParams): void {
  for (const name of ['hubpaymentaddress', 'hubdonationaddress'] as const) {
    const address = options[name];
    if (address !== undefined && decodeDestination(address, addressPrefixesOf(params)) === null)
      throw new OptionError(`Invalid address for -${name}: '${address}'`, name);
  }
  if (options.claimsearch && !options.claimindex)
    throw new OptionError('-claimsearch requires -claimindex.', 'claimindex');
  if (!options.hub) return;
  if (options.prune !== 0)
    throw new OptionError(
      'Prune mode is incompatible with -hub: its clients request old transactions.',
      'prune',
    );
  for (const name of HUB_NEEDS) {
    if (!options[name]) throw new OptionError(`-hub requires -${name}.`, name);
  }
}

/** Matches an origin as sent by browsers, or `*`. */
const ORIGIN = /^(\*|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)\/?$/i;

function checkEsplora(options: Options): void {
  const odd = options.esploraorigin.find((origin) => !ORIGIN.test(origin));
  if (odd !== undefined)
    throw new OptionError(
      `-esploraorigin must be an origin such as https://wallet.example, or *, not '${odd}'`,
      'esploraorigin',
      odd,
    );
  if (!options.esplora) return;
  if (options.prune !== 0)
    throw new OptionError(
      'Prune mode is incompatible with -esplora: its clients request old transactions.',
      'prune',
    );
  for (const name of ESPLORA_NEEDS) {
    if (!options[name]) throw new OptionError(`-esplora requires -${name}.`, name);
  }
}

/**
 * Rejects retired options that the reference rejects because ignoring them would be harmful. Warns about other retired
 * options.
 */
function refuseRetired(args: OptionArgs, options: Options, warnings: string[]): void {
  if (options.rpcssl) throw new OptionError('SSL mode for RPC (-rpcssl) is no longer supported.', 'rpcssl');
  if (args.isSet('socks')) {
    throw new OptionError(
      "Unsupported argument -socks found. Setting SOCKS version isn't possible anymore, only SOCKS5 proxies are supported.",
      'socks',
    );
  }
  if (options.tor !== undefined && options.tor !== '0')
    throw new OptionError('Unsupported argument -tor found, use -onion.', 'tor');
  if (options.debugnet) warnings.push('Unsupported argument -debugnet ignored, use -debug=net.');
  if (options.benchmark) warnings.push('Unsupported argument -benchmark ignored, use -debug=bench.');
  if (options.whitelistalwaysrelay) {
    warnings.push(
      'Unsupported argument -whitelistalwaysrelay ignored, use -whitelistrelay and/or -whitelistforcerelay.',
    );
  }
  if (options.upnp) {
    warnings.push('Unsupported argument -upnp ignored. Configure port forwarding on the router by hand.');
  }
  if (options.fastsignatures) {
    warnings.push(
      'Unsupported argument -fastsignatures ignored. libsecp256k1 verifies every signature, or @noble/secp256k1 without the native addon.',
    );
  }
  if (args.isSet('blockminsize')) warnings.push('Unsupported argument -blockminsize ignored.');
}

function payoutScript(address: string, params: NetworkParams): Bytes {
  const destination = decodeDestination(address, addressPrefixesOf(params));
  if (destination === null)
    throw new OptionError(`Invalid address for -miningaddress: '${address}'`, 'miningaddress', address);
  return scriptForDestination(destination);
}

/**
 * Returns the number of script verification threads. `par` 0 means one thread per core; a negative value leaves that many
 * cores free. Source: `nScriptCheckThreads`.
 */
export function scriptThreads(par: number, cores: number): number {
  return Math.min(MAX_SCRIPT_THREADS, Math.max(1, par <= 0 ? par + cores : par));
}

export function pruneMode(prune: number): PruneMode {
  if (prune < 0) throw new OptionError('Prune cannot be configured with a negative value.', 'prune');
  if (prune === 0) return { kind: 'off' };
  if (prune === 1) return { kind: 'manual' };
  if (prune < MIN_PRUNE_TARGET_MIB) {
    throw new OptionError(
      `Prune configured below the minimum of ${MIN_PRUNE_TARGET_MIB} MiB.  Please use a higher number.`,
      'prune',
    );
  }
  return { kind: 'automatic', targetBytes: prune * MIB };
}

/** Parses the number of blocks with name proofs. `text` must have the format `proofWindow`. */
export function proofWindow(text: string): number {
  return text === 'all' ? Infinity : Number(text);
}

/**
 * Parses the id of the assumed-valid block to wire order; null for zero. `text` must have the format `blockHash`; a short id
 * is padded with leading zeros. Source: `uint256S`.
 */
export function assumedBlock(text: string): Bytes | null {
  const digits = hexDigits(text);
  return /^0*$/.test(digits) ? null : hashFromHex(digits.padStart(64, '0'));
}

/** Parses the minimum chain work. `text` must have the format `chainWork`. */
export function leastChainWork(text: string): bigint {
  return BigInt(`0x${hexDigits(text)}`);
}

function hexDigits(text: string): string {
  return text.replace(/^0x/i, '');
}
