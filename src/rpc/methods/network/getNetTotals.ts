/** `getnettotals`: bytes received and sent. Source: lbrycrd rpc/net.cpp. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const getNetTotals = defineMethod({
  name: 'getnettotals',
  category: 'network',
  explorer: 'page',
  chainUse: 'none',
  summary: 'Returns information about network traffic, including bytes in, bytes out, and current time.',
  params: [],
  result: t.object({
    totalbytesrecv: t.int('total bytes received'),
    totalbytessent: t.int('total bytes sent'),
    timemillis: t.int('current time in milliseconds since 1970'),
    uploadtarget: t.object({
      timeframe: t.int('length of the measuring timeframe in seconds'),
      target: t.int('the target in bytes; 0 for no limit'),
      target_reached: t.bool('whether the target is reached'),
      serve_historical_blocks: t.bool('whether historical blocks are served'),
      bytes_left_in_cycle: t.int('bytes left in the current cycle'),
      time_left_in_cycle: t.int('seconds left in the current cycle'),
    }),
  }),
  examples: [[]],
  run({ services }) {
    const { bytesReceived, bytesSent, timeMs, upload } = requirePeers(services).totals();
    return {
      totalbytesrecv: bytesReceived,
      totalbytessent: bytesSent,
      timemillis: timeMs,
      uploadtarget: {
        timeframe: upload.timeframeSec,
        target: upload.target,
        target_reached: upload.targetReached,
        serve_historical_blocks: upload.servesHistoricalBlocks,
        bytes_left_in_cycle: upload.bytesLeftInCycle,
        time_left_in_cycle: upload.secondsLeftInCycle,
      },
    };
  },
});
