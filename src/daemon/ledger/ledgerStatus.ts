/**
 * The ledger's members in `status` under `wallet`. Source: lbry-sdk lbry/extras/daemon/components.py
 * `WalletComponent.get_status`.
 */
import { hashToHex } from '../../util/bytes.js';
import { joinHostPort } from '../../util/network/hostPort.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { HubPool } from './hub/hubPool.js';
import type { HeaderView, LedgerSyncState } from './ledger.js';

type Members = Readonly<Record<string, JsonOut>>;

const percentOf = (share: number): number => Math.floor(share * 100);

export function ledgerStatus(
  { connection, servers }: Pick<HubPool, 'connection' | 'servers'>,
  headers: HeaderView,
  state: LedgerSyncState,
): JsonOut {
  return {
    connected: connection && joinHostPort(connection.server),
    connected_features: connection && (connection.features as JsonOut),
    servers: connection ? [{ ...connection.server, latency: connection.latencySec, availability: true }] : [],
    known_servers: servers.length,
    available_servers: Number(connection !== null),
    ...headerMembers(headers, state.targetHeight),
    ...historyMembers(state),
  };
}

/** Members of `status` about the headers; empty before a hub has sent its height. */
function headerMembers(headers: HeaderView, target: number | null): Members {
  if (target === null) return {};
  const { height } = headers;
  return {
    headers_synchronization_progress: target === 0 ? 100 : percentOf(height / target),
    blocks: Math.max(height, 0),
    blocks_behind: target - height,
    best_blockhash: hashToHex(headers.hashAt(height)!),
  };
}

/** Members of `status` about address histories; empty before histories are requested from a hub. */
function historyMembers({ addresses, addressesLeft, fetched, historyShare }: LedgerSyncState): Members {
  if (addresses === 0) return {};
  return {
    history_synchronization_progress: percentOf(historyShare),
    addresses,
    addresses_behind: addressesLeft,
    transactions_fetched: fetched,
  };
}
