/** Reads from a call the context that is needed to format outputs in answers. */
import type { ShowPort } from '../txo/outputJson.js';
import type { DaemonContext } from './context.js';

export function showPortOf({ services: { ledger }, withProtobuf }: DaemonContext): ShowPort {
  return {
    ledger: ledger.params,
    height: ledger.height,
    timeSecAt: (height) => ledger.headers.timeSecAt(height),
    withProtobuf,
  };
}
