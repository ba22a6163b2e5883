/**
 * From the options to what the peer network works with. Source: Core init.cpp (steps 2, 3, 6 and 12). An option that
 * cannot be used is an `OptionError`.
 */
import { lookUpAddress, systemLookUp, type LookUp } from '../net/lookup.js';
import type { NetworkName, NetworkRoute, Proxy } from '../net/networks.js';
import { Networks } from '../net/networks.js';
import { formatHost, parseHost, parseNetAddress, type NetAddress } from '../net/netAddress.js';
import type { PeerNetworkOptions } from '../net/peerNetwork.js';
import type { Binding } from '../net/peers/listener.js';
import type { ReachableNetwork } from '../rpc/services.js';
import { splitHostPort } from '../util/hostPort.js';
import { Subnet } from '../util/subnet.js';
import { peerConnections, systemDescriptorLimit } from './descriptors.js';
import { OptionError } from './optionArgs.js';
import type { LoadedOptions } from './options.js';

const DEFAULT_TIMEOUT_MS = 5000;
const EVERYWHERE = ['::', '0.0.0.0'] as const;

export interface PeerSettingsDeps {
  /** Hears of what is changed because the system does not allow it. */
  warn(message: string): void;
  /** The system's resolver unless told. */
  lookUp?: LookUp;
  /** How many files and sockets the process may have open; Infinity when it is not known. */
  descriptorLimit?: number;
}

/** Looks up the names of -externalip. Rejects with `OptionError`. */
export async function peerSettings(
  loaded: LoadedOptions,
  { warn, lookUp = systemLookUp, descriptorLimit = systemDescriptorLimit() }: PeerSettingsDeps,
): Promise<PeerNetworkOptions> {
  const { options, derived, params, paths } = loaded;
  const port = options.port ?? params.p2pPort;
  const externalAddresses: NetAddress[] = [];
  for (const text of options.externalip) {
    const address = await lookUpAddress(text, port, options.dns ? lookUp : null);
    if (address === null) throw new OptionError(`Cannot resolve -externalip address: '${text}'`);
    externalAddresses.push(address);
  }
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
    dropsOneIn: Math.max(0, options.dropmessagestest),
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
    sendsFeeFilters: options.feefilter,
    minRelayFeeRatePerKb: options.minrelaytxfee,
    maxOrphans: Math.max(0, options.maxorphantx),
  };
}

function networksOf(reachable: readonly ReachableNetwork[]): Networks {
  const proxies = new Map(reachable.map((network) => [network.name, proxyOf(network)]));
  const route = (name: NetworkName): NetworkRoute => ({
    isLimited: reachable.find((network) => network.name === name)?.limited ?? false,
    proxy: proxies.get(name) ?? null,
  });
  // -proxy serves every network, so that of the plain ones is the one for names.
  const nameProxy = proxies.get('ipv4') ?? null;
  return new Networks({ ipv4: route('ipv4'), ipv6: route('ipv6'), onion: route('onion') }, nameProxy);
}

function proxyOf({ proxy, randomizesProxyCredentials }: ReachableNetwork): Proxy | null {
  if (proxy === '') return null;
  return { ...splitHostPort(proxy, 0), randomizesCredentials: randomizesProxyCredentials };
}

/** Null when connections are made automatically; `-connect=0` makes none. */
function connectOnly({ options, isSet }: LoadedOptions): readonly string[] | null {
  if (!isSet('connect')) return null;
  const names = options.connect;
  return names.length === 1 && names[0] === '0' ? [] : names;
}

function bindings({ options }: LoadedOptions, port: number): Binding[] {
  const bound = [
    ...options.bind.map((text) => binding('bind', text, port, false)),
    ...options.whitebind.map((text) => binding('whitebind', text, 0, true)),
  ];
  return bound.length > 0 ? bound : EVERYWHERE.map((host) => ({ host, port, isWhitelisted: false }));
}

function binding(
  name: 'bind' | 'whitebind',
  text: string,
  defaultPort: number,
  isWhitelisted: boolean,
): Binding {
  const address = parseNetAddress(text, defaultPort);
  if (address === null) throw new OptionError(`Cannot resolve -${name} address: '${text}'`);
  if (address.port === 0) throw new OptionError(`Need to specify a port with -${name}: '${text}'`);
  return { host: formatHost(address), port: address.port, isWhitelisted };
}

function whitelistEntry(text: string): Subnet {
  const subnet = Subnet.parse(text, parseHost);
  if (subnet === null) throw new OptionError(`Invalid netmask specified in -whitelist: '${text}'`);
  return subnet;
}
