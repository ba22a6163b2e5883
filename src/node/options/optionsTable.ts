/**
 * The options of the node. The command line, the configuration file, `-help`, the documentation and the `Options` type are
 * derived from this table. Names and defaults are those of lbrycrd 0.17.3.3 (`SetupServerArgs`); the last group of `options`
 * and of `chainparams` exists only in this node. The options of the peer network, relay, wallet and hub are in separate
 * files of this folder.
 */
import { ASSUME_VALID_DEPTH_SEC } from '../../params/network.js';
import { SEARCH_TIMEOUT_MS } from '../../search/searchBackend.js';
import { LOG_CATEGORIES } from '../../util/logging.js';
import {
  amount,
  bool,
  COUNT,
  int,
  INTEGER,
  list,
  text,
  type OptionCategory,
  type OptionRow,
  type OptionValues,
} from './optionRow.js';
import { EXPLORER_OPTIONS } from './optionsTableExplorer.js';
import { HUB_OPTIONS } from './optionsTableHub.js';
import { BLOCK_OPTIONS, CONNECTION_OPTIONS, RELAY_OPTIONS } from './optionsTableNet.js';
import { WALLET_DEBUG_OPTIONS, WALLET_OPTIONS } from './optionsTableWallet.js';

/** Limits of `-dbcache` and `-claimtriecache` in MiB. Source: `nMinDbCache`, `nMaxDbCache`. */
const CACHE_BOUNDS = [4, 16_384] as const;
/**
 * Default of `-claimtriecache` in MiB: enough for half of the nodes of a claim trie with five million names. The reference
 * uses the default of `-dbcache`.
 */
const CLAIM_TRIE_CACHE_MIB = 224;
/** Maximum of `-maxsigcachesize` in MiB. Source: `MAX_MAX_SIG_CACHE_SIZE`. */
const MAX_SIGNATURE_CACHE_MIB = 16_384;
/** Minimum automatic prune target in MiB. Source: `MIN_DISK_SPACE_FOR_BLOCK_FILES`. */
export const MIN_PRUNE_TARGET_MIB = 550;
/** Maximum number of script verification threads. Source: `MAX_SCRIPTCHECK_THREADS`. */
export const MAX_SCRIPT_THREADS = 16;
/** Number of messages that ZeroMQ queues for a slow subscriber. Source: Core's `DEFAULT_ZMQ_SNDHWM`. */
const ZMQ_HIGH_WATER_MARK = 1000;
/** Default number of latest blocks for which name proofs are available. */
const DEFAULT_CLAIM_PROOF_WINDOW = '5000';

/* prettier-ignore */
const GENERAL_OPTIONS = [
  bool('?', false, 'Print this help and exit'),
  bool('version', false, 'Print the version and exit'),
  text('alertnotify=<cmd>', '', 'Run this command when the chain is in an unsafe state, for instance on a long fork (%s in it is ' + 'replaced by the message)', { format: 'command' }),
  text('assumevalid=<hex>', undefined, 'Skip the script verification of this block and its ancestors if the chain contains it (0 verifies all; default: a recent block of the network)', { format: 'blockHash' }),
  text('blockfilterindex=<type>', '0', 'Keep an index of compact block filters (BIP158) by type: basic, or 1 for all types', { format: 'text' }),
  text('blocknotify=<cmd>', '', 'Run this command when the best block changes (%s in it is replaced by the block hash)', { format: 'command' }),
  int('blockreconstructionextratxn=<n>', 100, 'Number of additional transactions kept in memory to rebuild compact blocks', COUNT),
  text('blocksdir=<dir>', undefined, 'Folder in which the folder "blocks" with the block files is (default: the data folder)', { format: 'path' }),
  bool('blocksonly', false, 'Relay only blocks, no transactions', { debugOnly: true }),
  int('claimtriecache=<n>', CLAIM_TRIE_CACHE_MIB, 'Size in MiB of the cache of recently written claims and trie nodes', { clamp: CACHE_BOUNDS }),
  text('color=<when>', 'auto', 'Colour the log on the console: auto colours it if the console is a terminal and NO_COLOR is not set', { choices: ['auto', 'always', 'never'] }),
  text('conf=<file>', 'lbcnode.conf', 'The configuration file. A relative path is relative to the data folder', { format: 'path', mayBeNone: true }),
  bool('daemon', false, 'Run in the background and accept commands'),
  text('datadir=<dir>', undefined, 'The data folder. It is created if it does not exist, unlike in lbrycrd (default: ~/.lbcnode)', { format: 'path' }),
  int('dbbatchsize=<n>', 16_777_216, 'Largest batch of database writes in bytes', { range: [1, 0x7fffffff], debugOnly: true }),
  int('dbcache=<n>', 560, 'Size of the database cache in MiB', { clamp: CACHE_BOUNDS }),
  text('debuglogfile=<file>', 'debug.log', 'The log file. A relative path is relative to the network\'s data folder (-nodebuglogfile writes no file)', { format: 'path', mayBeNone: true }),
  bool('fastsignatures', false, 'Not supported; ignored with a warning. libsecp256k1 verifies every signature, or @noble/secp256k1 without the native addon'),
  bool('feefilter', true, 'Ask peers to announce only transactions that pay our mempool\'s minimum fee', { debugOnly: true }),
  list('includeconf=<file>', 'An additional configuration file, relative to the data folder (only in a configuration file)', { format: 'path' }),
  list('loadblock=<file>', 'Import blocks from this blk000??.dat or bootstrap file at start', { format: 'path' }),
  text('loadsnapshot=<file>', undefined, 'Fill a new data folder from this snapshot (docs/snapshots.md). The node can be used at once and ' + 'validates the blocks up to the snapshot in the background. A relative path is relative to the ' + "network's data folder", { format: 'path' }),
  int('maxmempool=<n>', 300, 'Keep the mempool below this many megabytes', COUNT),
  int('maxorphantx=<n>', 100, 'Keep at most this many transactions whose inputs are unknown', COUNT),
  int('memfile=<GiB>', undefined, 'Accepted for compatibility, without effect: the claim trie is on disk and needs no memory-mapped file', COUNT),
  int('mempoolexpiry=<n>', 336, 'Drop transactions from the mempool after this many hours', COUNT),
  text('minimumchainwork=<hex>', undefined, 'Minimum work of a valid chain (default: the value of the network)', { format: 'chainWork', debugOnly: true }),
  int('par=<n>', 0, `Script verification threads (up to ${MAX_SCRIPT_THREADS}, 0 = one per core, below 0 = leave that many cores free)`, { clamp: [-1024, MAX_SCRIPT_THREADS] }),
  bool('persistmempool', true, 'Save the mempool at stop and load it at start'),
  text('pid=<file>', 'lbcnode.pid', 'The file for the process id. A relative path is relative to the network\'s data folder', { format: 'path' }),
  int('prune=<n>', 0, `Delete old blocks: 0 = never, 1 = only by the method pruneblockchain, ${MIN_PRUNE_TARGET_MIB} or more = automatically, to keep block files below this many MiB. Incompatible with -txindex and -rescan. To turn pruning off, the node must download the chain again`, INTEGER),
  bool('reindex', false, 'Rebuild the block index and the state from the block files on disk'),
  bool('reindex-chainstate', false, 'Rebuild the state from the already indexed blocks'),
  text('snapshothash=<hash>', undefined, 'The trusted SHA-256 hash of the file of -loadsnapshot (default: the hash in this release)', { format: 'sha256' }),
  bool('sysperms', false, 'Create files with the system\'s permissions instead of umask 077 (only with the wallet disabled)'),
  bool('txindex', false, 'Keep an index of all transactions, which getrawtransaction uses. If the data folder already has ' + 'blocks, the index is built in the background'),
  bool('esplora', false, 'Serve the HTTP API of Esplora and mempool.space (docs/esplora.md) under /api/ at the RPC port, without a password. Turns on -txindex, -addressindex and -spendindex; incompatible with -prune'),
  list('esploraorigin=<origin>', 'Allow web pages of this origin (https://wallet.example, or * for any) to read the answers of -esplora', { format: 'text' }),
  bool('spendindex', false, 'Keep an index of the spending transaction of each output, which gettxinfo uses. If the data folder ' + 'already has blocks, the index is built in the background'),
  bool('addressindex', false, 'Keep an index of all addresses and scripts: history, balance and unspent outputs by ' + 'getaddresstxids, getaddressbalance, getaddressutxos and getaddressmempool. If the data folder ' + 'already has blocks, the index is built in the background'),
  bool('claimindex', false, 'Keep an index of claims by URL and channel, of reposts, and of totals, for resolve and getclaim. If ' + 'the data folder already has blocks, the index is built in the background'),
  bool('claimsearch', false, 'Keep a search index of claims in SQLite, for searchclaims. Turns on -claimindex'),
  int('claimsearchconnections=<n>', 8, 'Maximum number of concurrent claim searches in PostgreSQL (with -claimsearchurl)', { clamp: [1, 100] }),
  text('claimsearchschema=<name>', '', 'The PostgreSQL schema of the tables of the search index (default: lbcnode_ and the beginning of the hash of the genesis block)', { format: 'schemaName' }),
  int('claimsearchtimeout=<n>', SEARCH_TIMEOUT_MS, 'Stop a claim search after this many milliseconds', { range: [1, 3_600_000], debugOnly: true }),
  text('claimsearchurl=<url>', '', 'Keep the search index in a PostgreSQL database, as postgres://user:password@host:port/database, instead of a file of SQLite. Turns on -claimsearch; needs the package pg (docs/claim-index.md)', { format: 'postgresUrl' }),
  text('compat=<profile>', 'documented', 'Profile of the JSON-RPC results: documented (results of lbcnode), lbrycrd (as lbrycrd 0.17.3) or ' + 'lbcd (as lbcd; turns on -txindex and -blockfilterindex, which lbcd has by default, unless -prune is set). The paths /lbrycrd and /lbcd always use their own profile', { choices: ['documented', 'lbrycrd', 'lbcd'] }),
  bool('claimmetadata', false, 'Add the decoded values of claims and supports (title, tags, source, keys and so on), as the member metadata, to results with claims, to verbose transactions (also for purchases) and to claim events'),
  text('claimproofwindow=<blocks|all>', DEFAULT_CLAIM_PROOF_WINDOW, 'Number of past blocks for which name proofs are available', { format: 'proofWindow' }),
] as const;

/* prettier-ignore */
const ZMQ_OPTIONS = [
  list('zmqpubhashblock=<address>', 'Publish the hash of each new block at this address', { format: 'zmqAddress' }),
  list('zmqpubhashtx=<address>', 'Publish the hash of each transaction at this address', { format: 'zmqAddress' }),
  list('zmqpubrawblock=<address>', 'Publish each new block at this address', { format: 'zmqAddress' }),
  list('zmqpubrawtx=<address>', 'Publish each transaction at this address', { format: 'zmqAddress' }),
  list('zmqpubclaim=<address>', 'Publish the changes of claims by each block as JSON (docs/notifications.md) at this address', { format: 'zmqAddress' }),
  int('zmqpubhashblockhwm=<n>', ZMQ_HIGH_WATER_MARK, 'Maximum number of messages of -zmqpubhashblock that are queued for a slow subscriber; further ones are dropped (0 = unlimited)', COUNT),
  int('zmqpubhashtxhwm=<n>', ZMQ_HIGH_WATER_MARK, 'Maximum number of queued messages of -zmqpubhashtx', COUNT),
  int('zmqpubrawblockhwm=<n>', ZMQ_HIGH_WATER_MARK, 'Maximum number of queued messages of -zmqpubrawblock', COUNT),
  int('zmqpubrawtxhwm=<n>', ZMQ_HIGH_WATER_MARK, 'Maximum number of queued messages of -zmqpubrawtx', COUNT),
  int('zmqpubclaimhwm=<n>', ZMQ_HIGH_WATER_MARK, 'Maximum number of queued messages of -zmqpubclaim', COUNT),
] as const;

/* prettier-ignore */
const DEBUG_OPTIONS = [
  bool('addrmantest', false, 'Announce the own address as 127.0.0.1, to test the relay of addresses on one machine', { debugOnly: true }),
  bool('checkblockindex', undefined, 'Check the block index for consistency at intervals (default: on regtest)', { debugOnly: true }),
  int('checkblocks=<n>', 6, 'Number of blocks to check at start (0 = all). A few are enough, because a crash leaves a consistent state', { range: [-1, 0x7fffffff], debugOnly: true }),
  int('checklevel=<n>', 3, 'How thoroughly -checkblocks checks', { debugOnly: true, clamp: [0, 4] }),
  int('checkmempool=<n>', undefined, 'Check the mempool for consistency after each this many changes of the tip (0 = never; default: 1 on regtest, else 0)', { clamp: [0, 1_000_000], debugOnly: true }),
  bool('checkpoints', true, 'Reject chains that contradict the hard-coded checkpoints of the network', { debugOnly: true }),
  list('debug=<category>', `Write debugging information to the log (no category or 1 = all). Categories: ${LOG_CATEGORIES.join(', ')}`, { format: 'logCategory' }),
  list('debugexclude=<category>', 'Exclude a category; useful together with -debug=1', { format: 'logCategory' }),
  list('deprecatedrpc=<method>', 'Enable this deprecated method', { format: 'text', debugOnly: true }),
  int('dropmessagestest=<n>', 0, 'Drop one of this many messages of peers at random (0 = none)', { ...COUNT, debugOnly: true }),
  bool('forcecompactdb', false, 'Compact the database at start', { debugOnly: true }),
  bool('help-debug', false, 'Show the debugging options too (usage: --help -help-debug)'),
  int('limitancestorcount=<n>', 25, 'Reject transactions with this many unconfirmed ancestors or more', { ...COUNT, debugOnly: true }),
  int('limitancestorsize=<n>', 101, 'Reject transactions that together with unconfirmed ancestors exceed this many kilobytes', { ...COUNT, debugOnly: true }),
  int('limitdescendantcount=<n>', 25, 'Reject transactions that give an ancestor this many unconfirmed descendants or more', { ...COUNT, debugOnly: true }),
  int('limitdescendantsize=<n>', 101, 'Reject transactions that give an ancestor more than this many kilobytes of unconfirmed descendants', { ...COUNT, debugOnly: true }),
  bool('logips', false, 'Write IP addresses to the log'),
  bool('logtimemicros', false, 'Write log times with microseconds', { debugOnly: true }),
  bool('logtimestamps', true, 'Begin each line of the log with the time'),
  int('maxsigcachesize=<n>', 32, 'Size of the signature and script caches together in MiB', { debugOnly: true, clamp: [0, MAX_SIGNATURE_CACHE_MIB] }),
  int('maxtipage=<n>', 86_400, 'The node is in initial block download while its tip is older than this many seconds', { range: [0, Number.MAX_SAFE_INTEGER], debugOnly: true }),
  amount('maxtxfee=<amt>', 50_000_000n, 'Maximum total fee, in LBC, of a transaction of the wallet or of sendrawtransaction'),
  int('mocktime=<n>', 0, 'Use this time instead of the clock, in seconds since 1970 (0 = the clock)', { range: [0, Number.MAX_SAFE_INTEGER], debugOnly: true }),
  int('maxblockfilesize=<n>', 134_217_728, 'Begin a new block file beyond this many bytes', { debugOnly: true, clamp: [65_536, 134_217_728] }),
  bool('printpriority', false, 'Write the fee rate of each transaction to the log when assembling a block', { debugOnly: true }),
  bool('printtoconsole', undefined, 'Also write the log to the console (default: unless -daemon). -nodebuglogfile disables the log file'),
  bool('stopafterblockimport', false, 'Stop after the import of the blocks on disk', { debugOnly: true }),
  int('stopatheight=<n>', 0, 'Stop when the main chain reaches this height', { ...COUNT, debugOnly: true }),
  list('uacomment=<cmt>', 'Append this to the user agent', { format: 'userAgentComment' }),
  list('vbparams=<deployment>:<start>:<end>', 'Times of a version bits deployment (regtest only)', { format: 'override', debugOnly: true }),
] as const;

/* prettier-ignore */
const CHAIN_OPTIONS = [
  bool('regtest', false, 'Use the regression test chain, on which blocks can be generated at once'),
  bool('testnet', false, 'Use the test chain'),
  text('supportdelay=<rule>', undefined, 'Number of blocks until a support for a claim that does not control its name becomes active: "100", ' + 'or "proportional" to the time since the last takeover as on the main network (regtest only; stored ' + 'in the data folder; default: 100)', { choices: ['100', 'proportional'] }),
  list('forkheight=<name>@<height>', 'Activation height of a fork: extendedexpiration, normalization, takeoverworkaround@min-max, allclaims, segwit, bip34, bip65, bip66 (regtest only)', { format: 'override' }),
  text('claimexpiration=<original>,<extended>', undefined, 'Number of blocks after which claims expire, before and after the fork that extends the term (regtest only)', { format: 'override' }),
  int('assumevaliddepth=<n>', ASSUME_VALID_DEPTH_SEC, 'Skip the scripts of the ancestors of -assumevalid if the work above them represents more than this many seconds (regtest only)', { ...COUNT, debugOnly: true }),
] as const;

/* prettier-ignore */
const RPC_OPTIONS = [
  bool('metrics', false, 'Serve Prometheus metrics at /metrics of the JSON-RPC port, without authentication, to the addresses of -rpcallowip'),
  bool('rest', false, 'Answer public REST requests'),
  list('rpcallowhost=<name>', 'Also accept requests for REST, health, metrics and WebSockets with this host name (* = any name). IP addresses, localhost and the names of -rpcbind are always accepted. Other names are refused, because a web page can point its own name at this node (DNS rebinding)', { format: 'hostName' }),
  list('rpcallowip=<ip>', 'Accept JSON-RPC connections from this address (1.2.3.4), or network with its mask (1.2.3.4/255.255.255.0) or prefix length (1.2.3.4/24)', { format: 'rpcAllowIp' }),
  list('rpcauth=<userpw>', 'A user with a hashed password, as <USERNAME>:<SALT>$<HASH> where the hash is the HMAC-SHA256 of the password under the salt, in hex', { format: 'rpcAuth' }),
  list('rpcbind=<addr>[:port]', 'Listen for JSON-RPC at this address, [host]:port for IPv6. Ignored unless -rpcallowip is given too (default: the local host, or all addresses with -rpcallowip)', { format: 'hostPort', networkOnly: true }),
  int('rpccache=<n>', 64, 'Size in MiB of the cache of results that are still valid; three quarters are for the transactions of blocks (0 = no cache)', { clamp: [0, 4096] }),
  text('rpccert=<file>', 'rpc.cert', 'The certificate for TLS (-tls), in PEM. The first start creates it. A relative path is relative to the network\'s data folder', { format: 'path' }),
  text('rpccookiefile=<loc>', '.cookie', 'The cookie file for authentication. A relative path is relative to the network\'s data folder', { format: 'path' }),
  text('rpckey=<file>', 'rpc.key', 'The private key of -rpccert, in PEM. It is created together with the certificate', { format: 'path' }),
  int('rpcmaxconnections=<n>', 512, 'Maximum number of HTTP connections. A further connection closes the longest idle one, unauthenticated ones first', { range: [1, 0x7fffffff] }),
  text('rpcpassword=<pw>', '', 'Password for JSON-RPC', { format: 'text' }),
  int('rpcport=<port>', undefined, 'Listen for JSON-RPC on this port (default: 9245, testnet: 19245, regtest: 29245)', { ...INTEGER, networkOnly: true }),
  int('rpcserialversion=<n>', 1, 'Raw transactions and blocks in hex without (0) or with (1) witnesses', INTEGER),
  int('rpcservertimeout=<n>', 30, 'Seconds after which an idle HTTP connection is closed (0 = 50)', { ...COUNT, debugOnly: true }),
  int('rpcthreads=<n>', 4, 'Maximum number of concurrent calls', COUNT),
  text('rpcuser=<user>', '', 'User name for JSON-RPC', { format: 'text' }),
  int('rpcworkqueue=<n>', 16, 'Maximum number of queued calls', { ...COUNT, debugOnly: true }),
  bool('server', true, 'Accept commands by JSON-RPC'),
  bool('tls', undefined, 'Use TLS on the JSON-RPC port; then only clients on this machine can use plain HTTP (default: on with -compat=lbcd, else off)'),
  bool('ws', false, 'Send notifications of blocks, transactions and claims by WebSocket at the path /ws of the JSON-RPC server. With -compat=lbcd that path uses lbcd\'s protocol, also without -ws (docs/notifications.md)'),
  int('wsmaxclients=<n>', 32, 'Serve at most this many WebSocket clients of each protocol (default for lbcd\'s protocol: 25)', COUNT),
  int('wsmaxconcurrentreqs=<n>', 20, 'Run at most this many calls of one WebSocket client of lbcd\'s protocol at the same time', { range: [1, 0x7fffffff] }),
  int('wsmaxsubscriptions=<n>', 10_000, 'Maximum number of names, claim ids, addresses and scripts to which one WebSocket client can subscribe', COUNT),
  int('wsmaxqueue=<n>', 32, 'Close the connection of a WebSocket client for which more than this many MiB are queued', { clamp: [16, 4096] }),
] as const;

/* prettier-ignore */
const HIDDEN_OPTIONS = [
  bool('h', false, ''),
  bool('help', false, ''),
  // Options of earlier versions. They are defined so that old configurations cause the reference's messages
  // (`optionChecks.ts`).
  bool('rpcssl', false, ''),
  bool('benchmark', false, ''),
  text('socks', undefined, '', { format: 'text' }),
  text('tor', undefined, '', { format: 'text' }),
  bool('debugnet', false, ''),
  bool('whitelistalwaysrelay', false, ''),
  bool('prematurewitness', false, ''),
  bool('walletprematurewitness', false, ''),
  bool('promiscuousmempoolflags', false, ''),
  text('blockminsize', undefined, '', { format: 'text' }),
  int('dbcrashratio', 0, '', COUNT),
  bool('usehd', false, ''),
  // Set by a public address of `rpclisten` of lbcd: accept RPC clients from all addresses, unless `-rpcallowip` is set.
  bool('rpcallowall', false, ''),
  // Options of the reference's GUI. The reference's daemon accepts and ignores them.
  text('allowselfsignedrootcertificates', undefined, '', { format: 'text' }),
  text('choosedatadir', undefined, '', { format: 'text' }),
  text('lang=<lang>', undefined, '', { format: 'text' }),
  text('min', undefined, '', { format: 'text' }),
  text('resetguisettings', undefined, '', { format: 'text' }),
  text('rootcertificates=<file>', undefined, '', { format: 'text' }),
  text('splash', undefined, '', { format: 'text' }),
  text('uiplatform', undefined, '', { format: 'text' }),
] as const;

/** All options by group, in the order of `-help`. */
export const OPTION_GROUPS = {
  options: GENERAL_OPTIONS,
  connection: CONNECTION_OPTIONS,
  wallet: WALLET_OPTIONS,
  wallet_debug_test: WALLET_DEBUG_OPTIONS,
  zmq: ZMQ_OPTIONS,
  debug_test: DEBUG_OPTIONS,
  chainparams: CHAIN_OPTIONS,
  node_relay: RELAY_OPTIONS,
  block_creation: BLOCK_OPTIONS,
  rpc: RPC_OPTIONS,
  hub: HUB_OPTIONS,
  explorer: EXPLORER_OPTIONS,
  hidden: HIDDEN_OPTIONS,
} as const satisfies Record<OptionCategory, readonly OptionRow[]>;

type Row = (typeof OPTION_GROUPS)[OptionCategory][number];

export const OPTION_ROWS: readonly Row[] = Object.values(OPTION_GROUPS).flat();

export type OptionName = Row['name'];

/** Values of all options, including defaults. Amounts are in satoshis. */
export type Options = OptionValues<readonly Row[]>;
