/**
 * Options of lbcd and of older lbrycrd beside those of this node: an option of lbcd becomes ours if there is an equivalent,
 * and the others are explained. Source: lbcd config.go, lbrycrd `SetupServerArgs`, and older versions of both.
 */
import { OptionError } from './optionArgs.js';

/** An option of this node with its value. */
export interface OwnSetting {
  readonly name: string;
  readonly value: string;
}

/**
 * Converts the value of an lbcd option to options of ours; none if no option is needed. Throws `OptionError` for a value
 * that lbcd refuses and that none of our options would refuse.
 */
export type Equal = (value: string) => readonly OwnSetting[];

const as =
  (name: string, read = (value: string): string => value): Equal =>
  (value) => [{ name, value: read(value) }];

const GO_FALSE = /^(0|f|F|FALSE|false|False)$/;

/** Converts a switch in the syntax of Go's `strconv.ParseBool`; an empty text means on. Throws `OptionError` for others. */
function goSwitch(value: string): '0' | '1' {
  if (/^(1|t|T|TRUE|true|True|)$/.test(value)) return '1';
  if (GO_FALSE.test(value)) return '0';
  throw new OptionError(`'${value}' is not a switch: lbcd reads 1, t, true, 0, f and false`);
}

const asSwitch = (name: string): Equal => as(name, goSwitch);
const without = (name: string): Equal => as(name, (value) => (goSwitch(value) === '1' ? '0' : '1'));
/**
 * Creates a converter for a switch of lbcd. If the switch is on, this node's option `name` gets the value `given`; if it is
 * off, no option is set.
 */
const whenOn =
  (name: string, given: string): Equal =>
  (value) =>
    goSwitch(value) === '1' ? [{ name, value: given }] : [];

const SECONDS_OF: Readonly<Record<string, number>> = {
  ...{ h: 3600, m: 60, s: 1, ms: 1e-3 },
  ...{ us: 1e-6, µs: 1e-6, μs: 1e-6, ns: 1e-9 },
};

/**
 * Converts a Go duration such as `1h30m` to whole seconds. Throws `OptionError` for other text and for less than a second.
 * Source: Go `time.ParseDuration`, lbcd config.go.
 */
function seconds(value: string): string {
  const text = value.replace(/^[+-]/, '');
  if (!/^(([0-9]+\.?[0-9]*|\.[0-9]+)(h|ms|m|s|us|µs|μs|ns))+$/.test(text))
    throw new OptionError(`'${value}' is not a duration with units, such as 24h or 1h30m`);
  const parts = [...text.matchAll(/([0-9.]+)([a-zµμ]+)/g)];
  const sum = parts.reduce((total, [, count, unit]) => total + Number(count) * SECONDS_OF[unit!]!, 0);
  if (value.startsWith('-') || sum < 1) throw new OptionError(`'${value}' is less than one second`);
  return String(Math.round(sum));
}

/**
 * Converts an address of `rpclisten`. An address beyond the local host also sets `-rpcallowall`, because lbcd accepts clients
 * from all addresses there. An empty host means all addresses, which `-rpcbind` does not need. Source: lbcd
 * `normalizeAddress`, `parseListeners`.
 */
function rpcPlaces(value: string): readonly OwnSetting[] {
  const [, host = value, port] = /^(.*):([0-9]+)$/.exec(/^[^[]*:.*:/.test(value) ? '' : value) ?? [];
  return [
    ...(host === '' ? [] : as('rpcbind')(value)),
    ...(port === undefined ? [] : as('rpcport')(port)),
    ...(/^(localhost|127\.[0-9.]+|\[?::1\]?)$/.test(host) ? [] : as('rpcallowall')('1')),
  ];
}

/** Options of lbcd that have the same name and the same text values in this node. */
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
  nocfilters: whenOn('blockfilterindex', '0'),
  nocheckpoints: without('checkpoints'),
  nodnsseed: without('dnsseed'),
  nolisten: without('listen'),
  noonion: whenOn('onion', '0'),
  nopeerbloomfilters: without('peerbloomfilters'),
  norpc: without('server'),
  notls: without('tls'),
  rejectnonstd: whenOn('acceptnonstdtxn', '0'),
  rejectreplacement: without('mempoolreplacement'),
  rpclisten: rpcPlaces,
  rpcmaxclients: as('rpcmaxconnections'),
  rpcmaxconcurrentreqs: as('wsmaxconcurrentreqs'),
  rpcmaxwebsockets: as('wsmaxclients'),
  rpcpass: as('rpcpassword'),
  torisolation: asSwitch('proxyrandomize'),
};

const OTHER_TLS = 'TLS for RPC is configured by -tls, -rpccert and -rpckey';
const NO_LIMITED_USER = 'users with limited rights are not supported';
const NO_PRIORITY = 'transactions have no priority by age';
const NO_OTHER_NETWORK = 'only the main network, -testnet and -regtest are supported';
const NO_PROXY_LOGIN =
  'user name and password for proxies are not supported; -proxyrandomize uses random credentials, so ' +
  'that Tor separates connections';

/** Full names of lbcd's one-letter options. */
const SHORT: Readonly<Record<string, string>> = {
  a: 'addpeer',
  b: 'datadir',
  C: 'configfile',
  d: 'debuglevel',
  P: 'rpcpass',
  u: 'rpcuser',
  V: 'version',
};

/** Returns the full name of a one-letter option of lbcd; undefined for other letters. */
export const fullName = (letter: string): string | undefined =>
  Object.hasOwn(SHORT, letter) ? SHORT[letter] : undefined;

/** Reasons why options of lbcd and of older lbrycrd have no equivalent in this node. */
const EXPLAINED: Readonly<Record<string, string>> = {
  addcheckpoint: 'only the checkpoints of the network are used',
  agentblacklist: 'peers are not selected by their user agent',
  agentwhitelist: 'peers are not selected by their user agent',
  alerts: 'the network has no alert messages any more',
  blockmaxsize: 'use -blockmaxweight',
  blockminsize: 'blocks have no minimum size',
  blockminweight: 'blocks have no minimum weight',
  blockprioritysize: NO_PRIORITY,
  configfile: 'use -conf on the command line',
  cpuprofile: 'use node --cpu-prof',
  datadir: 'the folder of lbcd contains a database in another format; use -datadir with another folder',
  dbtype: 'there is only one type of database',
  debuglevel: 'use -debug=<category>',
  dropaddrindex: 'start with -reindex-chainstate and without -addressindex',
  dropcfindex: 'start with -reindex-chainstate and without -blockfilterindex',
  droptxindex: 'start with -reindex-chainstate and without -txindex',
  gen: 'the node does not mine by itself; connect a miner to getblocktemplate, or use generatetoaddress on regtest',
  generate:
    'the node does not mine by itself; connect a miner to getblocktemplate, or use generatetoaddress on regtest',
  genproclimit: 'the node does not mine by itself',
  limitfreerelay: 'transactions without a fee are not relayed',
  logdir: 'use -debuglogfile',
  memprofile: 'use node --heap-prof',
  norelaypriority: NO_PRIORITY,
  nostalldetect: 'stalling peers are always disconnected',
  nowinservice: 'a Windows service is not supported',
  onionpass: NO_PROXY_LOGIN,
  onionuser: NO_PROXY_LOGIN,
  profile: 'use node --inspect',
  proxypass: NO_PROXY_LOGIN,
  proxyuser: NO_PROXY_LOGIN,
  relaynonstd: 'testnet and regtest relay non-standard transactions by default, the main network never does',
  relaypriority: NO_PRIORITY,
  rpckeepalive: 'connections are always kept alive',
  rpclimitpass: NO_LIMITED_USER,
  rpclimituser: NO_LIMITED_USER,
  rpcquirks: 'the profile of results is set by -compat',
  rpcsslcertificatechainfile: OTHER_TLS,
  rpcsslciphers: OTHER_TLS,
  rpcsslprivatekeyfile: OTHER_TLS,
  sendfreetransactions: 'transactions without a fee are not relayed',
  sigcachemaxsize: 'the size of the cache is set in MiB by -maxsigcachesize',
  signet: NO_OTHER_NETWORK,
  signetchallenge: NO_OTHER_NETWORK,
  signetseednode: NO_OTHER_NETWORK,
  simnet: NO_OTHER_NETWORK,
  trickleinterval: 'the interval of transaction announcements is fixed',
};

/** Treatment of an option of another program: the name of the equivalent option of this node, or the reason why there is none. */
export type ForeignOption =
  { readonly kind: 'renamed'; readonly name: string } | { readonly kind: 'none'; readonly why: string };

/** Returns the converter for an lbcd option; undefined if no option here corresponds to it. */
export const lbcdEqual = (name: string): Equal | undefined =>
  Object.hasOwn(LBCD_EQUALS, name) ? LBCD_EQUALS[name] : undefined;

/** Returns the reason why an option of lbcd or older lbrycrd has no equivalent in this node; undefined for other names. */
export const explainedOption = (name: string): string | undefined =>
  Object.hasOwn(EXPLAINED, name) ? EXPLAINED[name] : undefined;

/**
 * Returns the treatment of an option of another program. Returns null for unknown names and for options that have the same
 * meaning in this node.
 */
export function foreignOption(name: string): ForeignOption | null {
  const why = explainedOption(name);
  if (why !== undefined) return { kind: 'none', why };
  const [equal] = lbcdEqual(name)?.(sampleOf(name)) ?? [];
  return equal && equal.name !== name ? { kind: 'renamed', name: equal.name } : null;
}

/** A valid value of an lbcd option. */
const sampleOf = (name: string): string => (name === 'banduration' ? '1h' : '1');

/** Texts of the documentation about options whose treatment needs more than a name. */
const DESCRIBED: Readonly<Record<string, string | undefined>> = {
  configfile: '`-conf`',
  rpclisten:
    '`-rpcbind`. If the address is not one of this machine, clients from all addresses are accepted as by lbcd, unless ' +
    '`-rpcallowip` is set. This needs `-notls`, `-tls` or `-compat=lbcd`',
};

/** Returns the treatment of each option of another program by name, for the documentation. */
export function foreignOptionRows(): { readonly name: string; readonly here: string }[] {
  const equal = Object.entries(LBCD_EQUALS).map(([name, read]) => {
    const ours = read(sampleOf(name))[0]?.name ?? name;
    return { name, here: ours === name ? 'the same option' : `\`-${ours}\`` };
  });
  const explained = Object.entries(EXPLAINED).map(([name, why]) => ({ name, here: `ignored: ${why}` }));
  const named = [...equal, ...explained].map((row) => ({ ...row, here: DESCRIBED[row.name] ?? row.here }));
  return named.filter(({ name }) => name !== 'datadir').sort((a, b) => (a.name < b.name ? -1 : 1));
}

const OTHER_NETWORKS = ['signet', 'simnet'];

/**
 * Returns the reason why a node with this setting must not start, because it would use another network than intended.
 * Returns null if the setting is harmless.
 */
export function refusedNetwork(name: string, value: string): string | null {
  if (!OTHER_NETWORKS.includes(name) || GO_FALSE.test(value)) return null;
  return `The network ${name} of lbcd does not exist here: ${NO_OTHER_NETWORK}`;
}
