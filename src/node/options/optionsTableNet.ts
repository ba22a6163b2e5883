/** Options of the peer network, transaction relay and block assembly. */
import { amount, bool, COUNT, int, INTEGER, list, text } from './optionRow.js';

/* prettier-ignore */
export const CONNECTION_OPTIONS = [
  list('addnode=<ip>', 'Connect to this node and try to stay connected', { format: 'peer', networkOnly: true }),
  int('banscore=<n>', 100, 'Disconnect a peer whose misbehaviour score reaches this number', COUNT),
  int('bantime=<n>', 86_400, 'Number of seconds for which a misbehaving peer is banned', { range: [0, Number.MAX_SAFE_INTEGER] }),
  list('bind=<addr>', 'Listen at this address, [host]:port for IPv6', { format: 'address', networkOnly: true }),
  list('connect=<ip>', 'Connect to these nodes only; -noconnect makes no automatic connections', { format: 'peer', networkOnly: true }),
  bool('discover', undefined, 'Detect the own public addresses (default: when listening without -externalip and -proxy)'),
  bool('dns', true, 'Look up names given by -addnode, -seednode and -connect'),
  bool('dnsseed', undefined, 'Query the DNS seeds for addresses if few are known (default: unless -connect is used)'),
  bool('enablebip61', true, 'Send reject messages (BIP61)'),
  list('externalip=<ip>', 'Our own public address', { format: 'externalHost' }),
  bool('forcednsseed', false, 'Always query the DNS seeds for addresses'),
  bool('listen', true, 'Accept connections (default: unless -proxy or -connect is used)'),
  bool('listenonion', true, 'Create an onion service of Tor automatically'),
  int('maxconnections=<n>', 125, 'Keep at most this many connections', COUNT),
  int('maxreceivebuffer=<n>', 5000, 'Largest receive buffer per connection, in 1000 bytes', COUNT),
  int('maxsendbuffer=<n>', 1000, 'Largest send buffer per connection, in 1000 bytes', COUNT),
  int('maxtimeadjustment=<n>', 4200, 'Maximum adjustment of the clock by the times of peers, in seconds', COUNT),
  int('maxuploadtarget=<n>', 0, 'Try to send no more than this many MiB a day (0 = no limit)', COUNT),
  text('onion=<ip:port>', undefined, 'The SOCKS5 proxy for onion services; -noonion disables onion services (default: -proxy)', { format: 'proxy' }),
  list('onlynet=<net>', 'Connect through this network only: ipv4, ipv6 or onion. Incoming connections are not affected', { format: 'network' }),
  bool('lightwallets', false, 'Serve light wallets that use compact block filters (BIP157, BIP158): turns on -blockfilterindex and -peerblockfilters, and signals the service bit NODE_COMPACT_FILTERS'),
  bool('peerblockfilters', false, 'Serve compact block filters to peers (BIP157); needs -blockfilterindex'),
  bool('peerbloomfilters', true, 'Serve bloom filters (BIP37)'),
  bool('permitbaremultisig', true, 'Relay multisig outputs that are not P2SH'),
  int('port=<port>', undefined, 'Listen on this port (default: 9246, testnet: 19246, regtest: 29246)', { ...INTEGER, networkOnly: true }),
  text('proxy=<ip:port>', undefined, 'Connect through this SOCKS5 proxy; -noproxy uses none', { format: 'proxy' }),
  bool('proxyrandomize', true, 'Use new credentials for each proxy connection, so that Tor separates them'),
  list('seednode=<ip>', 'Fetch addresses from this node, then disconnect', { format: 'peer' }),
  int('timeout=<n>', 5000, 'Give up connecting after this many milliseconds', COUNT),
  text('torcontrol=<ip>:<port>', '127.0.0.1:9051', 'The control port of Tor, for -listenonion', { format: 'hostPort' }),
  text('torpassword=<pass>', '', 'The password of the control port', { format: 'text' }),
  bool('upnp', false, 'Not supported; ignored with a warning. Configure port forwarding on the router by hand'),
  list('whitebind=<addr>', 'Listen at this address and whitelist the peers that connect to it, [host]:port for IPv6', { format: 'address' }),
  list('whitelist=<IP address or network>', 'Whitelist peers that connect from this address or network. They are not banned, and their transactions are relayed even if already in the mempool', { format: 'subnet' }),
] as const;

/* prettier-ignore */
export const RELAY_OPTIONS = [
  bool('acceptnonstdtxn', undefined, 'Relay and mine non-standard transactions (testnet and regtest only, where it is the default)', { debugOnly: true }),
  int('bytespersigop=<n>', 20, 'Equivalent bytes per signature operation in relay and mining', COUNT),
  bool('datacarrier', true, 'Relay and mine transactions that carry data'),
  int('datacarriersize=<n>', 83, 'Largest data output that is relayed and mined, in bytes', COUNT),
  amount('dustrelayfee=<amt>', 1000n, 'Fee rate, in LBC/kB, that defines dust. An output is dust, and not relayed, if its amount is less ' + 'than the fee at this rate for creating and spending it', { debugOnly: true }),
  amount('incrementalrelayfee=<amt>', 1000n, 'Fee rate, in LBC/kB. A replacement (BIP125) must pay at least this rate for its own size in ' + 'addition to the fees of the replaced transactions. When a full mempool evicts transactions, its ' + 'minimum fee rate becomes their rate plus this rate', { debugOnly: true }),
  text('mempoolreplacement=<mode>', '1', 'Replacement of transactions in the mempool (BIP125): 1 or fee allow it, 0 or never forbid it', { format: 'replacement' }),
  amount('minrelaytxfee=<amt>', 1000n, 'Fee rate, in LBC/kB, below which a transaction is not relayed, mined or created'),
  bool('whitelistforcerelay', true, 'Relay transactions of whitelisted peers even if they violate the relay policy'),
  bool('whitelistrelay', true, 'Accept transactions from whitelisted peers even if the node does not relay transactions ' + '(-blocksonly). -blocksonly changes the default to 0'),
] as const;

/* prettier-ignore */
export const BLOCK_OPTIONS = [
  int('blockmaxweight=<n>', 7_996_000, 'Maximum weight (BIP141) of block templates', COUNT),
  amount('blockmintxfee=<amt>', 1000n, 'Minimum fee rate, in LBC/kB, of transactions in block templates'),
  int('blockversion=<n>', undefined, 'Version of block templates, to test forks', { ...INTEGER, debugOnly: true }),
  list('miningaddress=<address>', 'Address to which the coinbase transaction of getblocktemplate pays. Several addresses are used in turn', { format: 'payoutAddress' }),
] as const;
