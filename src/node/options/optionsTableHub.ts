/** Options of the hub. Names and defaults follow the reference hub (lbryio/hub herald/env.py). */
import { HUB_PORT } from '../../hub/protocol/hubPeers.js';
import { bool, int, list, text } from './optionRow.js';

/* prettier-ignore */
export const HUB_OPTIONS = [
  bool('hub', false, 'Serve light wallets (lbry-sdk) with the hub protocol: histories, headers, transactions, claims and ' + 'search. Turns on -txindex, -addressindex and -claimsearch; incompatible with -prune'),
  text('hubbanner=<file>', undefined, 'File with the banner for clients. The variables $SERVER_VERSION, $DAEMON_VERSION, $DAEMON_SUBVERSION, $PAYMENT_ADDRESS and $DONATION_ADDRESS in it are replaced. A relative path is relative to the data folder', { format: 'path' }),
  text('hubbind=<addr>', '127.0.0.1', 'Listen for clients at this address (0.0.0.0 or :: for all)', { format: 'bindHost' }),
  list('hubblockingchannels=<claimids>', 'Channel whose reposts block claims from being resolved and from searches by clients of the hub: ' + 'claim ids, separated by commas', { format: 'claimIds' }),
  text('hubcountry=<code>', undefined, 'The country reported to clients: two letters (ISO 3166), or a region with three digits (UN M.49)', { format: 'country' }),
  text('hubdailyfee=<amt>', '0', 'Daily fee in LBC that the hub advertises; clients are asked to pay it to -hubpaymentaddress', { format: 'decimal' }),
  text('hubdescription=<text>', '', 'Description of the hub for clients', { format: 'text' }),
  text('hubdonationaddress=<addr>', undefined, 'Address for donations, which the hub advertises', { format: 'payoutAddress' }),
  text('hubdropclient=<regex>', undefined, 'Refuse clients whose name begins with a match of this regular expression', { format: 'pattern' }),
  list('hubfilteringchannels=<claimids>', 'Channel whose reposts block claims from searches by clients of the hub: claim ids, separated by commas', { format: 'claimIds' }),
  int('hubmaxsessions=<n>', 1000, 'Serve at most this many clients', { range: [1, 100_000] }),
  text('hubpaymentaddress=<addr>', undefined, 'Address for the daily fee, which the hub advertises', { format: 'payoutAddress' }),
  list('hubpeers=<host:port>', 'Another hub that is announced to clients', { format: 'hubPeer' }),
  int('hubport=<port>', HUB_PORT, 'Listen for clients on this port', { range: [1, 65_535] }),
  int('hubsessiontimeout=<n>', 600, 'Close the connection of a client that sends nothing for this many seconds', { range: [1, 0x7fffff] }),
  int('hubudpport=<port>', undefined, 'UDP port that answers status pings of clients; needs an IPv4 address as -hubbind (0 = no status ' + 'port; default: the port number of -hubport)', { range: [0, 65_535] }),
] as const;
