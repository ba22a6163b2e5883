/** Options of the web explorer. */
import { bool, int, list, text } from './optionRow.js';

/* prettier-ignore */
export const EXPLORER_OPTIONS = [
  bool('explorer', false, 'Serve web pages about names, claims, blocks and transactions (docs/explorer.md). Turns on -txindex, ' + '-addressindex and -spendindex (not with -prune), -claimindex and, if SQLite is available, ' + '-claimsearch, unless they are set explicitly'),
  text('explorerbind=<addr>', '127.0.0.1', 'Serve the pages at this address (0.0.0.0 or :: for all)', { format: 'bindHost' }),
  list('explorerhost=<name>', 'Also accept requests with this host name (* = any name). IP addresses and localhost are always accepted', { format: 'hostName' }),
  bool('explorerimages', true, 'Let visitors choose to load images of claims from other hosts'),
  bool('explorerindexable', false, 'Allow search engines to index the pages'),
  bool('explorerpeers', false, 'Show the addresses of peers and warnings of the node to all visitors, not only to those on this machine'),
  int('explorerport=<port>', undefined, 'Serve the pages on this port (default: 9248, testnet: 19248, regtest: 29248)', { range: [0, 65_535], networkOnly: true }),
  list('explorerproxy=<subnet>', 'Trust the header X-Forwarded-For of this reverse proxy (an IP address or a subnet)', { format: 'subnet' }),
] as const;
