/** Codecs of all messages of protocol version 70015, by command. Unknown commands are not an error. */
import { addrCodec } from './addr.js';
import { blockCodec } from './block.js';
import { blocktxnCodec } from './blocktxn.js';
import { cfcheckptCodec } from './filters/cfcheckpt.js';
import { cfheadersCodec } from './filters/cfheaders.js';
import { cfilterCodec } from './filters/cfilter.js';
import { cmpctblockCodec } from './cmpctblock.js';
import { feefilterCodec } from './feefilter.js';
import { filteraddCodec } from './filters/filteradd.js';
import { filterclearCodec } from './filters/filterclear.js';
import { filterloadCodec } from './filters/filterload.js';
import { getaddrCodec } from './getaddr.js';
import { getblocksCodec } from './getblocks.js';
import { getblocktxnCodec } from './getblocktxn.js';
import { getcfcheckptCodec } from './filters/getcfcheckpt.js';
import { getcfheadersCodec } from './filters/getcfheaders.js';
import { getcfiltersCodec } from './filters/getcfilters.js';
import { getdataCodec } from './getdata.js';
import { getheadersCodec } from './getheaders.js';
import { headersCodec } from './headers.js';
import { invCodec } from './inv.js';
import { mempoolCodec } from './mempool.js';
import { merkleblockCodec } from './filters/merkleblock.js';
import { notfoundCodec } from './notfound.js';
import { pingCodec } from './ping.js';
import { pongCodec } from './pong.js';
import { rejectCodec } from './reject.js';
import { sendcmpctCodec } from './sendcmpct.js';
import { sendheadersCodec } from './sendheaders.js';
import { txCodec } from './tx.js';
import { verackCodec } from './verack.js';
import { versionCodec } from './version.js';

/**
 * Commands in the order of the reference (`allNetMessageTypes`), then the commands of BIP157 in the order of later Core
 * versions.
 */
const codecs = {
  version: versionCodec,
  verack: verackCodec,
  addr: addrCodec,
  inv: invCodec,
  getdata: getdataCodec,
  merkleblock: merkleblockCodec,
  getblocks: getblocksCodec,
  getheaders: getheadersCodec,
  tx: txCodec,
  headers: headersCodec,
  block: blockCodec,
  getaddr: getaddrCodec,
  mempool: mempoolCodec,
  ping: pingCodec,
  pong: pongCodec,
  notfound: notfoundCodec,
  filterload: filterloadCodec,
  filteradd: filteraddCodec,
  filterclear: filterclearCodec,
  reject: rejectCodec,
  sendheaders: sendheadersCodec,
  feefilter: feefilterCodec,
  sendcmpct: sendcmpctCodec,
  cmpctblock: cmpctblockCodec,
  getblocktxn: getblocktxnCodec,
  blocktxn: blocktxnCodec,
  getcfilters: getcfiltersCodec,
  cfilter: cfilterCodec,
  getcfheaders: getcfheadersCodec,
  cfheaders: cfheadersCodec,
  getcfcheckpt: getcfcheckptCodec,
  cfcheckpt: cfcheckptCodec,
} as const;

/** The table has no prototype, because a peer may send a command such as `constructor`, which must not be found. */
export const MESSAGES = Object.freeze(Object.setPrototypeOf(codecs, null) as typeof codecs);

export type Command = keyof typeof MESSAGES;

export type Payload<C extends Command> = ReturnType<(typeof MESSAGES)[C]['parse']>;

export function isCommand(command: string): command is Command {
  return command in MESSAGES;
}
