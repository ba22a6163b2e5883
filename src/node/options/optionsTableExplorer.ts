/** The rows of the options table for the web explorer. */
import { bool, int, list, text } from './optionRow.js';

/* prettier-ignore */
export const EXPLORER_OPTIONS = [
  bool('explorer', false, 'Serve web pages about names, claims, blocks and transactions (docs/explorer.md). Turns -txindex, -addressindex, -claimindex and, where there is SQLite, -claimsearch on, unless they are given or with -prune'),
  text('explorerbind=<addr>', '127.0.0.1', 'Serve the pages at this address (0.0.0.0 or :: for all)', { format: 'bindHost' }),
  list('explorerhost=<name>', 'A host name by which the pages may be asked for, beside IP addresses and localhost; * for any', { format: 'hostName' }),
  bool('explorerimages', true, 'Let visitors choose to see pictures of claims from the hosts that have them'),
  bool('explorerindexable', false, 'Let search engines list the pages'),
  bool('explorerpeers', false, 'Show the addresses of peers to everybody, not to visitors of this machine alone'),
  int('explorerport=<port>', undefined, 'Serve the pages on this port (default: 9248, testnet: 19248, regtest: 29248)', { range: [0, 65_535], networkOnly: true }),
  list('explorerproxy=<subnet>', 'A proxy in front of the pages, whose X-Forwarded-For tells the visitor (an IP address or a subnet)', { format: 'subnet' }),
] as const;
