/** The rows of the options table for the hub. Names and defaults follow the hub's own (lbryio/hub herald/env.py). */
import { HUB_PORT } from '../../hub/protocol/hubPeers.js';
import { bool, int, list, text } from './optionRow.js';

/* prettier-ignore */
export const HUB_OPTIONS = [
  bool('hub', false, 'Serve thin wallets (lbry-sdk): histories, headers, transactions, claims and search by the protocol of hubs. Turns -txindex, -addressindex and -claimsearch on; not together with -prune'),
  text('hubbanner=<file>', undefined, 'The text that clients get as banner. $SERVER_VERSION, $DAEMON_VERSION, $DAEMON_SUBVERSION, $PAYMENT_ADDRESS and $DONATION_ADDRESS in it are filled in; a relative path starts at the data folder', { format: 'path' }),
  text('hubbind=<addr>', '127.0.0.1', 'Listen for clients at this address (0.0.0.0 or :: for all)', { format: 'bindHost' }),
  list('hubblockingchannels=<claimids>', 'Channels whose reposts keep claims from being resolved, as claim ids with commas between them', { format: 'claimIds' }),
  text('hubcountry=<code>', undefined, 'The country that clients are told, as two letters (ISO 3166) or a region as three digits (UN M.49)', { format: 'country' }),
  text('hubdailyfee=<amt>', '0', 'What clients shall pay a day to -hubpaymentaddress, in LBC', { format: 'decimal' }),
  text('hubdescription=<text>', '', 'A description for clients', { format: 'text' }),
  text('hubdonationaddress=<addr>', undefined, 'An address for donations', { format: 'payoutAddress' }),
  text('hubdropclient=<regex>', undefined, 'Refuse clients whose name begins with a match of this regular expression', { format: 'pattern' }),
  list('hubfilteringchannels=<claimids>', 'Channels whose reposts keep claims out of searches, as claim ids with commas between them', { format: 'claimIds' }),
  int('hubmaxsessions=<n>', 1000, 'Serve at most this many clients', { range: [1, 100_000] }),
  text('hubpaymentaddress=<addr>', undefined, 'The address that clients pay to', { format: 'payoutAddress' }),
  list('hubpeers=<host:port>', 'Another hub that is announced to clients', { format: 'hubPeer' }),
  int('hubport=<port>', HUB_PORT, 'Listen for clients on this port', { range: [1, 65_535] }),
  int('hubsessiontimeout=<n>', 600, 'Close the connection of a client that sends nothing for this many seconds', { range: [1, 0x7fffff] }),
  int('hubudpport=<port>', undefined, 'The UDP port that tells clients whether they can connect (default: that of -hubport, 0 = none)', { range: [0, 65_535] }),
] as const;
