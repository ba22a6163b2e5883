/**
 * Creates the settings of the peer network from the options. Throws `OptionError` for an invalid option. Source: Core
 * init.cpp (steps 2, 3, 6 and 12).
 */
import { lookUpAddress, ONION_NAME, systemLookUp, type LookUp } from '../../net/lookup.js';
import type { PeerNetworkName, NetworkRoute, Proxy } from '../../net/networks.js';
import { Networks } from '../../net/networks.js';
import { formatHost, parseHost, parseNetAddress, type NetAddress } from '../../net/netAddress.js';
import type { PeerNetworkOptions } from '../../net/peerNetwork.js';
import type { Binding } from '../../net/peers/listener.js';
import type { ReachableNetwork } from '../../interfaces/services.js';
import { DEFAULT_PROXY_PORT } from '../options/networkSettings.js';
import { splitHostPort } from '../../util/network/hostPort.js';
import { Subnet } from '../../util/network/subnet.js';
import { peerConnections, systemDescriptorLimit } from '../options/descriptors.js';
import { OptionError } from '../options/optionArgs.js';
import type { LoadedOptions } from '../options/options.js';

const DEFAULT_TIMEOUT_MS = 5000;
const EVERYWHERE = ['::', '0.0.0.0'] as const;

export interface PeerSettingsDeps {
  /** Called with a warning about settings that were reduced because of system limits. */
  warn(message: string): void;
  /** Resolves host names. Default: the system's resolver. */
  lookUp?: LookUp;
  /** Maximum number of open files and sockets of the process; Infinity if unknown. */
  descriptorLimit?: number;
}

/** Creates the peer network's settings. Resolves the host names of -externalip, -proxy and -onion. Rejects with `OptionError`. */
export async function peerSettings(
  loaded: LoadedOptions,
  { warn, lookUp = systemLookUp, descriptorLimit = systemDescriptorLimit() }: PeerSettingsDeps,
): Promise<PeerNetworkOptions> {
  const { options, derived, params, paths } = loaded;
  const port = options.port ?? params.p2pPort;
  const externalAddresses: NetAddress[] = [];
  for (const text of options.externalip) {
    const address = await lookUpAddress(text, port, options.dns ? lookUp : null);
    if (address === null)
      throw new OptionError(
        `Cannot resolve -externalip address: '${text}'${loaded.placeOf('externalip', text)}`,
      );
    externalAddresses.push(address);
  }
  for (const name of ['proxy', 'onion'] as const) await checkProxyName(name, loaded, lookUp);
  const nameProxy = derived.networks.find((network) => network.name === 'ipv4')?.proxy ?? '';
  // If a proxy resolves host names, it also resolves the names of peers, so the names are not checked at the start.
  if (nameProxy === '') warnOfNames(options, lookUp, warn);
  return {
    params,
    folder: paths.networkDir,
    userAgent: derived.userAgent,
    networks: networksOf(derived.networks),
    port,
    bindings: options.listen ? bindings(loaded, port) : [],
    whitelist: options.whitelist.map(whitelistEntry),
    externalAddresses,
    discovers: options.discover ?? true,
    tellsLoopback: options.addrmantest,
    dropsOneIn: options.dropmessagestest,
    logsAddresses: options.logips,
    connect: connectOnly(loaded),
    addNodes: options.addnode,
    seedNodes: options.seednode,
    asksDnsSeeds: options.dnsseed ?? true,
    forcesDnsSeeds: options.forcednsseed,
    allowsLookup: options.dns,
    connectTimeoutMs: options.timeout > 0 ? options.timeout : DEFAULT_TIMEOUT_MS,
    maxConnections: peerConnections(options.maxconnections, descriptorLimit, warn),
    maxReceiveBytes: options.maxreceivebuffer * 1000,
    maxSendBytes: options.maxsendbuffer * 1000,
    banScore: options.banscore,
    banTimeSec: options.bantime,
    sendsRejects: options.enablebip61,
    maxTimeAdjustmentSec: options.maxtimeadjustment,
    minimumChainWork: derived.minimumChainWork,
    prunes: derived.prune.kind !== 'off',
    uploadTargetBytes: options.maxuploadtarget * 1024 * 1024,
    reconstructionExtraTransactions: options.blockreconstructionextratxn,
    tor: options.listenonion
      ? {
          target: options.torcontrol,
          password: options.torpassword,
          hasOnionProxy: loaded.isSet('onion'),
        }
      : null,
    relaysTransactions: !options.blocksonly,
    whitelistRelay: options.whitelistrelay,
    whitelistForceRelay: options.whitelistforcerelay,
    servesFilters: options.peerbloomfilters,
    servesBlockFilters: options.peerblockfilters,
    sendsFeeFilters: options.feefilter,
    minRelayFeeRatePerKb: options.minrelaytxfee,
    maxOrphans: options.maxorphantx,
  };
}

/** Throws if the host name of a proxy has no address. Source: `Lookup` in init.cpp. */
async function checkProxyName(
  name: 'proxy' | 'onion',
  { options, placeOf }: LoadedOptions,
  lookUp: LookUp,
): Promise<void> {
  const given = options[name];
  if (given === undefined || given === '' || given === '0') return;
  if ((await lookUpAddress(given, DEFAULT_PROXY_PORT, lookUp)) !== null) return;
  throw new OptionError(
    `Invalid -${name} address or hostname: '${given}' (it cannot be resolved)${placeOf(name)}`,
  );
}

/** Warns about peers and a Tor control port whose host names cannot be resolved. The start does not wait for the resolver. */
function warnOfNames(
  options: LoadedOptions['options'],
  lookUp: LookUp,
  warn: (message: string) => void,
): void {
  const check = (name: string, given: string, isAllowed: boolean): void => {
    const { host } = splitHostPort(given, 0);
    if (parseHost(host) !== null || ONION_NAME.test(host) || given === '0') return;
    if (!isAllowed) {
      warn(`-${name}=${given} is a host name, but name lookups are disabled by -dns=0.`);
      return;
    }
    const tell = (): void => warn(`-${name}=${given} cannot be resolved now; the lookup is repeated later.`);
    lookUp(host).then((found) => {
      if (found.length === 0) tell();
    }, tell);
  };
  for (const name of ['connect', 'addnode', 'seednode'] as const)
    for (const given of options[name]) check(name, given, options.dns);
  // Tor's control port is not a peer, so its name is resolved regardless of -dns.
  if (options.listenonion) check('torcontrol', options.torcontrol, true);
}

function networksOf(reachable: readonly ReachableNetwork[]): Networks {
  const proxies = new Map(reachable.map((network) => [network.name, proxyOf(network)]));
  const route = (name: PeerNetworkName): NetworkRoute => ({
    isLimited: reachable.find((network) => network.name === name)?.limited ?? false,
    proxy: proxies.get(name) ?? null,
  });
  // A proxy set by `-proxy` applies to every network, so the proxy for IPv4 also resolves host names.
  const nameProxy = proxies.get('ipv4') ?? null;
  return new Networks({ ipv4: route('ipv4'), ipv6: route('ipv6'), onion: route('onion') }, nameProxy);
}

function proxyOf({ proxy, randomizesProxyCredentials }: ReachableNetwork): Proxy | null {
  if (proxy === '') return null;
  return { ...splitHostPort(proxy, 0), randomizesCredentials: randomizesProxyCredentials };
}

/**
 * Nodes to which connections are restricted by `-connect`. Null if the node selects peers automatically; empty for
 * `-connect=0`.
 */
function connectOnly({ options, isSet }: LoadedOptions): readonly string[] | null {
  if (!isSet('connect')) return null;
  const names = options.connect;
  return names.length === 1 && names[0] === '0' ? [] : names;
}

function bindings({ options, placeOf }: LoadedOptions, port: number): Binding[] {
  const bound = [
    ...options.bind.map((text) => binding('bind', text, port, false, placeOf)),
    ...options.whitebind.map((text) => binding('whitebind', text, 0, true, placeOf)),
  ];
  return bound.length > 0 ? bound : EVERYWHERE.map((host) => ({ host, port, isWhitelisted: false }));
}

function binding(
  name: 'bind' | 'whitebind',
  text: string,
  defaultPort: number,
  isWhitelisted: boolean,
  placeOf: LoadedOptions['placeOf'],
): Binding {
  // The result is not null, because the text was checked before to have the format `address`.
  const address = parseNetAddress(text, defaultPort)!;
  if (address.port === 0)
    throw new OptionError(`Need to specify a port with -${name}: '${text}'${placeOf(name, text)}`);
  return { host: formatHost(address), port: address.port, isWhitelisted };
}

/** Parses a subnet. `text` must have the format `subnet`. */
function whitelistEntry(text: string): Subnet {
  return Subnet.parse(text, parseHost)!;
}
