/**
 * Settings of the peer network from the options: the user agent, and the networks and proxies through which peers are
 * reached. Throws `OptionError` for an invalid option. Source: Core init.cpp (step 6), clientversion.cpp `FormatSubVersion`.
 */
import { isIP } from 'node:net';
import type { Networks } from '../../net/networks.js';
import type { ReachableNetwork } from '../../interfaces/services.js';
import { joinHostPort, splitHostPort } from '../../util/network/hostPort.js';
import { checkFormat } from './optionFormats.js';
import { OptionError, type OptionArgs } from './optionArgs.js';
import { programVersion } from '../../util/project.js';
import type { Options } from './optionsTable.js';

const CLIENT_NAME = 'lbcnode';
/** Maximum length in bytes of a user agent that peers accept. Source: `MAX_SUBVERSION_LENGTH`. */
const MAX_USER_AGENT_LENGTH = 256;
/** Default port of a SOCKS5 proxy. */
export const DEFAULT_PROXY_PORT = 9050;

const NETWORK_NAMES = ['ipv4', 'ipv6', 'onion'] as const;
type NetworkName = (typeof NETWORK_NAMES)[number];

/** Returns the version as one number, with two digits each for minor, revision and build. Source: `CLIENT_VERSION`. */
export function versionNumber(version = programVersion()): number {
  const [major = 0, minor = 0, revision = 0] = version.split('.').map((part) => parseInt(part, 10));
  return major * 1_000_000 + minor * 10_000 + revision * 100;
}

/** Returns the user agent `/name:version(comment; comment)/`, as sent to peers and returned by `getnetworkinfo` (BIP14). */
export function userAgent(comments: readonly string[], version = programVersion()): string {
  for (const comment of comments) checkFormat('uacomment', 'userAgentComment', comment);
  const noted = comments.length === 0 ? '' : `(${comments.join('; ')})`;
  const agent = `/${CLIENT_NAME}:${version}${noted}/`;
  if (agent.length > MAX_USER_AGENT_LENGTH) {
    throw new OptionError(
      `Total length of network version string (${agent.length}) exceeds maximum length (${MAX_USER_AGENT_LENGTH}). ` +
        'Reduce the number or size of uacomments.',
      'uacomment',
    );
  }
  return agent;
}

/**
 * Returns each network with its proxy, and whether it is disabled. `-onlynet` disables all other networks. Onion addresses
 * need a proxy. A proxy makes them reachable regardless of `-onlynet`; `-noonion` disables them.
 */
export function reachableNetworks(args: OptionArgs, options: Options): ReachableNetwork[] {
  const only = onlyNetworks(options.onlynet);
  const proxy = proxyAddress('proxy', options);
  const onionOff = args.isNegated('onion') || options.onion === '0';
  const onionProxy = (onionOff ? '' : proxyAddress('onion', options)) || proxy;
  return NETWORK_NAMES.map((name) => {
    const used = name === 'onion' ? onionProxy : proxy;
    const limited = name === 'onion' ? onionOff || used === '' : only !== null && !only.has(name);
    const randomizes = used !== '' && options.proxyrandomize;
    return { name, limited, reachable: !limited, proxy: used, randomizesProxyCredentials: randomizes };
  });
}

/**
 * Returns the current state of the networks. `configured` is the state according to the options; Tor's proxy may have been found
 * since the start.
 */
export function presentNetworks(
  configured: readonly ReachableNetwork[],
  networks: Networks,
): ReachableNetwork[] {
  return configured.map(({ name }) => {
    const { isLimited, proxy } = networks.route(name as NetworkName);
    return {
      name,
      limited: isLimited,
      reachable: !isLimited,
      proxy: proxy ? joinHostPort(proxy) : '',
      randomizesProxyCredentials: proxy?.randomizesCredentials ?? false,
    };
  });
}

/** Returns the networks of `-onlynet`; null if the option is not set. Source: `ParseNetwork`. */
function onlyNetworks(given: readonly string[]): Set<NetworkName> | null {
  if (given.length === 0) return null;
  const names = given.map((text) => text.toLowerCase());
  return new Set(names.map((name) => (name === 'tor' ? 'onion' : name) as NetworkName));
}

/** Returns `host:port` of a proxy; empty if none is set. The host name is not resolved here but by the network layer. */
function proxyAddress(name: 'proxy' | 'onion', options: Options): string {
  const given = options[name];
  if (given === undefined || given === '' || given === '0') return '';
  const { host, port } = splitHostPort(given, DEFAULT_PROXY_PORT);
  if (isIP(host) === 0 && !options.dns) {
    throw new OptionError(`Invalid -${name} address or hostname: '${given}'`, name);
  }
  return joinHostPort({ host, port });
}
