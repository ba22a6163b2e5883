/**
 * Converts configuration files and options of lbrycrd and lbcd. lbrycrd's file has our format and names. lbcd's file is read
 * only if the operator specifies it; its options become ours if there is an equivalent, and the others are explained. Reads
 * no files. Source: lbcd config.go, lbrycrd `SetupServerArgs`, and older versions of both.
 */
import type { ConfigEntry } from './configFile.js';
import { interpretBool } from './optionArgs.js';

/**
 * Converts the value of an lbcd option. Returns the name and value of our option, or null if no option is needed.
 */
export type Equal = (value: string) => { readonly name: string; readonly value: string } | null;

const as =
  (name: string, read = (value: string): string => value): Equal =>
  (value) => ({ name, value: read(value) });
/** Converts a switch in Go's syntax: `1`, `true` and a bare name mean on. */
const goSwitch = (value: string): string => (/^(1|t|true|)$/i.test(value) ? '1' : '0');
const asSwitch = (name: string): Equal => as(name, goSwitch);
const without = (name: string): Equal => as(name, (value) => (goSwitch(value) === '1' ? '0' : '1'));
/**
 * Creates a converter for a switch of lbcd: if the switch is on, our option gets the value `given`; if it is off, no option
 * is set.
 */
const whenOn =
  (name: string, given: string): Equal =>
  (value) =>
    goSwitch(value) === '1' ? { name, value: given } : null;

const SECONDS_OF: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 0.001 };

/** Converts a Go duration such as `1h30m` to whole seconds. Other text is returned unchanged. */
function seconds(value: string): string {
  if (!/^([0-9.]+(h|ms|m|s))+$/.test(value)) return value;
  const parts = [...value.matchAll(/([0-9.]+)(h|ms|m|s)/g)];
  return String(
    Math.round(parts.reduce((sum, [, count, unit]) => sum + Number(count) * SECONDS_OF[unit!]!, 0)),
  );
}

/** Options of lbcd that have the same name and text values here. */
const SAME = ['blockmaxweight', 'connect', 'externalip', 'maxorphantx', 'minrelaytxfee', 'onion', 'proxy', 'rpccert', 'rpckey', 'rpcuser', 'uacomment', 'whitelist']; // prettier-ignore
const SAME_SWITCHES = ['blocksonly', 'regtest', 'testnet', 'txindex', 'upnp'];

const LBCD_EQUALS: Readonly<Record<string, Equal>> = {
  ...Object.fromEntries(SAME.map((name) => [name, as(name)])),
  ...Object.fromEntries(SAME_SWITCHES.map((name) => [name, asSwitch(name)])),
  addpeer: as('addnode'),
  addrindex: asSwitch('addressindex'),
  banduration: as('bantime', seconds),
  banthreshold: as('banscore'),
  // A value that begins with a colon means all addresses, so only the port is set.
  listen: (value) => (value.startsWith(':') ? as('port')(value.slice(1)) : as('bind')(value)),
  maxpeers: as('maxconnections'),
  miningaddr: as('miningaddress'),
  nobanning: whenOn('banscore', '2147483647'),
  nocheckpoints: without('checkpoints'),
  nodnsseed: without('dnsseed'),
  nolisten: without('listen'),
  noonion: whenOn('onion', '0'),
  nopeerbloomfilters: without('peerbloomfilters'),
  norpc: without('server'),
  notls: without('tls'),
  rejectnonstd: whenOn('acceptnonstdtxn', '0'),
  rejectreplacement: without('mempoolreplacement'),
  relaynonstd: whenOn('acceptnonstdtxn', '1'),
  // For an address of the local host only the port is set. The node listens there anyway, and `-rpcbind` has no effect
  // without `-rpcallowip`.
  rpclisten: (value) => {
    const [, port] = /^(?:localhost|127\.0\.0\.1|\[::1\])?:([0-9]+)$/.exec(value) ?? [];
    return port === undefined ? as('rpcbind')(value) : as('rpcport')(port);
  },
  rpcmaxclients: as('rpcmaxconnections'),
  rpcmaxconcurrentreqs: as('wsmaxconcurrentreqs'),
  rpcmaxwebsockets: as('wsmaxclients'),
  rpcpass: as('rpcpassword'),
  torisolation: asSwitch('proxyrandomize'),
};

const OTHER_TLS = 'RPC is answered over TLS with -tls; its files are those of -rpccert and -rpckey';
const NO_LIMITED_USER = 'there are no users of limited rights';
const NO_PRIORITY = 'transactions have no priority by age any more';
const NO_OTHER_NETWORK = 'there are main, -testnet and -regtest alone';
const NO_PROXY_LOGIN = 'proxies are used without a login; Tor separates connections by -proxyrandomize';

/** Reasons why options of lbcd and of older lbrycrd have no equivalent here. */
const EXPLAINED: Readonly<Record<string, string>> = {
  addcheckpoint: 'checkpoints are those of the network',
  agentblacklist: 'peers are not chosen by their user agent',
  agentwhitelist: 'peers are not chosen by their user agent',
  alerts: 'the network has no alerts any more',
  blockmaxsize: 'the size of blocks is set by -blockmaxweight',
  blockminsize: 'blocks have no least size',
  blockminweight: 'blocks have no least weight',
  blockprioritysize: NO_PRIORITY,
  configfile: 'the file is named by -conf on the command line',
  cpuprofile: 'use node --cpu-prof',
  datadir: 'the folder of lbcd holds its own database; name a folder of our own with -datadir',
  dbtype: 'there is one database',
  debuglevel: 'use -debug=<category>',
  dropaddrindex: 'start with -reindex-chainstate and without -addressindex',
  dropcfindex: 'start with -reindex-chainstate and without -blockfilterindex',
  droptxindex: 'start with -reindex-chainstate and without -txindex',
  gen: 'the node does not mine by itself: getblocktemplate serves those outside, generatetoaddress regtest',
  generate:
    'the node does not mine by itself: getblocktemplate serves those outside, generatetoaddress regtest',
  genproclimit: 'the node does not mine by itself',
  limitfreerelay: 'transactions without a fee are not relayed',
  logdir: 'the log is named by -debuglogfile',
  memprofile: 'use node --heap-prof',
  nocfilters: 'no filters are served by default',
  norelaypriority: NO_PRIORITY,
  nostalldetect: 'stalling peers are always noticed',
  nowinservice: 'there is no service for Windows',
  onionpass: NO_PROXY_LOGIN,
  onionuser: NO_PROXY_LOGIN,
  profile: 'use node --inspect',
  proxypass: NO_PROXY_LOGIN,
  proxyuser: NO_PROXY_LOGIN,
  relaypriority: NO_PRIORITY,
  rpckeepalive: 'connections are always kept alive',
  rpclimitpass: NO_LIMITED_USER,
  rpclimituser: NO_LIMITED_USER,
  rpcquirks: 'whose answers are given is set by -compat',
  rpcsslcertificatechainfile: OTHER_TLS,
  rpcsslciphers: OTHER_TLS,
  rpcsslprivatekeyfile: OTHER_TLS,
  sendfreetransactions: 'transactions without a fee are not relayed',
  sigcachemaxsize: 'the cache is set in MiB by -maxsigcachesize',
  signet: NO_OTHER_NETWORK,
  signetchallenge: NO_OTHER_NETWORK,
  signetseednode: NO_OTHER_NETWORK,
  simnet: NO_OTHER_NETWORK,
  trickleinterval: 'how often transactions are announced is fixed',
};

/** Treatment of an option of another program: the name of our equivalent, or the reason why there is none. */
export type ForeignOption =
  { readonly kind: 'renamed'; readonly name: string } | { readonly kind: 'none'; readonly why: string };

/** Returns the converter for an lbcd option; undefined without an equivalent. */
export const lbcdEqual = (name: string): Equal | undefined =>
  Object.hasOwn(LBCD_EQUALS, name) ? LBCD_EQUALS[name] : undefined;

/** Returns the reason why an option of lbcd or older lbrycrd has no equivalent; undefined for other names. */
export const explainedOption = (name: string): string | undefined =>
  Object.hasOwn(EXPLAINED, name) ? EXPLAINED[name] : undefined;

/**
 * Returns the treatment of an option of another program. Returns null for unknown names and for options with the same
 * meaning here.
 */
export function foreignOption(name: string): ForeignOption | null {
  const why = explainedOption(name);
  if (why !== undefined) return { kind: 'none', why };
  const equal = lbcdEqual(name)?.('1');
  return equal && equal.name !== name ? { kind: 'renamed', name: equal.name } : null;
}

/** Returns the treatment of each option of another program by name, for the documentation. */
export function foreignOptionRows(): { readonly name: string; readonly here: string }[] {
  const equal = Object.entries(LBCD_EQUALS).map(([name, read]) => {
    const ours = read('1')?.name ?? name;
    return { name, here: ours === name ? 'the same' : `\`-${ours}\`` };
  });
  const explained = Object.entries(EXPLAINED).map(([name, why]) => ({ name, here: `passed over: ${why}` }));
  const named = [...equal, ...explained].map((row) =>
    row.name === 'configfile' ? { ...row, here: '`-conf`' } : row,
  );
  return named.filter(({ name }) => name !== 'datadir').sort((a, b) => (a.name < b.name ? -1 : 1));
}

const OTHER_NETWORKS = ['signet', 'simnet'];

/**
 * Returns the reason why a node with this setting must not start, because it would use another network than intended.
 * Returns null if the setting is harmless.
 */
export function refusedNetwork(name: string, value: string): string | null {
  if (!OTHER_NETWORKS.includes(name) || goSwitch(value) !== '1') return null;
  return `The network ${name} of lbcd does not exist here: ${NO_OTHER_NETWORK}`;
}

/** Matches the heading above lbcd's own options. */
const LBCD_HEADING = /^\s*\[\s*Application Options\s*\]\s*$/im;

/** Whether a file has lbcd's format, judged by its heading or its name. */
export function isLbcdConfig(path: string, text: string): boolean {
  return LBCD_HEADING.test(text) || /(^|[/\\])lbcd\.conf$/i.test(path);
}

/** Settings converted from a file of another program, and settings that could not be converted, with reasons. */
export interface TakenOver {
  readonly entries: readonly ConfigEntry[];
  readonly passedOver: readonly Remark[];
  /** Settings that must not be ignored. The node must not start with them. */
  readonly refused: readonly Remark[];
}

interface Remark {
  readonly line: number;
  readonly text: string;
}

/**
 * Reads lbcd's configuration file and converts the options to ours. Comments begin with `;` or `#`, values may be quoted,
 * and headings have no meaning. `network` is the network of the command line; the file may select another one. Source:
 * go-flags `readIni`.
 */
export function readLbcdConfig(text: string, network: 'main' | 'test' | 'regtest' = 'main'): TakenOver {
  const entries: ConfigEntry[] = [];
  const passedOver: Remark[] = [];
  const refused: Remark[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const trimmed = raw.trim();
    if (trimmed === '' || /^[;#[]/.test(trimmed)) continue;
    const line = index + 1;
    const equals = trimmed.indexOf('=');
    const name = (equals < 0 ? trimmed : trimmed.slice(0, equals)).trim().toLowerCase();
    const value = equals < 0 ? '' : unquoted(trimmed.slice(equals + 1).trim());
    const equal = lbcdEqual(name);
    const ours = equal?.(value);
    if (ours) entries.push({ section: '', ...ours, line });
    if (equal !== undefined) continue;
    const network = refusedNetwork(name, value);
    if (network !== null) refused.push({ line, text: network });
    const why = explainedOption(name) ?? 'it is not an option of lbcd or lbcnode';
    passedOver.push({ line, text: `${name} is passed over: ${why}` });
  }
  return { entries: inOwnSection(entries, network), passedOver, refused };
}

function unquoted(value: string): string {
  if (!/^".*"$/.test(value)) return value;
  try {
    return String(JSON.parse(value));
  } catch {
    return value.slice(1, -1);
  }
}

/**
 * Puts settings of lbcd's file into the section of the selected network. lbcd's file has no sections: its ports and
 * addresses apply to the network that the file or the command line selects. In our file, settings above the headings apply
 * to the main network only.
 */
function inOwnSection(entries: readonly ConfigEntry[], network: 'main' | 'test' | 'regtest'): ConfigEntry[] {
  const isOn = (wanted: string): boolean =>
    entries.some(({ name, value }) => name === wanted && interpretBool(value));
  const given = network === 'main' ? '' : network;
  const section = isOn('regtest') ? 'regtest' : isOn('testnet') ? 'test' : given;
  const isNetwork = (name: string): boolean => name === 'regtest' || name === 'testnet';
  return entries.map((entry) => (isNetwork(entry.name) ? entry : { ...entry, section }));
}
