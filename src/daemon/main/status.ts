/**
 * Result of `status`: lbry-sdk's members and our additional, documented ones. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `jsonrpc_version`.
 */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { ComponentName } from '../api/declaration.js';
import { float } from '../base/answerJson.js';
import type { Components } from './components.js';
import type { WalletPart, WalletServices } from './walletPart.js';

export interface StatusSources {
  readonly installationId: string;
  readonly components: Components;
  readonly skipped: readonly ComponentName[];
  readonly wallet: WalletPart | null;
  readonly ffmpeg: JsonOut;
  /** Status of the node that runs together with the daemon; null without a node. */
  readonly node: JsonOut;
  /** Network services that cannot be reached at the moment, one line for each. */
  readonly warnings: readonly string[];
  /** Status of the reflector; null if the daemon is not a reflector. */
  readonly reflector: JsonOut;
  /** Running transfers. */
  readonly transfers: JsonOut;
}

type Members = Readonly<Record<string, JsonOut | undefined>>;

const COMPLETE = 100;

function walletMembers({ ledger, wallets }: WalletServices): Members {
  const shown = ledger.status() as Members;
  const [first] = wallets.all;
  return {
    ...shown,
    connected_servers: shown['servers'],
    is_encrypted: first?.isEncrypted ?? null,
    is_locked: first?.isLocked ?? null,
    is_syncing: !wallets.all.every(({ accountIds }) => accountIds.every((id) => ledger.isSynced(id))),
  };
}

/** Returns a value if it is a number, else null. */
const numberIn = (value: JsonOut | undefined): number | null => (typeof value === 'number' ? value : null);

export function statusOf(sources: StatusSources): JsonOut {
  const { installationId, components, skipped, wallet, ffmpeg, node, warnings, reflector, transfers } =
    sources;
  const failures = components.failures();
  const answer: Record<string, JsonOut> = {
    installation_id: installationId,
    is_running: components.areAllRunning,
    skipped_components: skipped,
    startup_status: components.startup(),
    ffmpeg_status: ffmpeg,
    ...(Object.keys(failures).length > 0 && { component_failures: failures }),
    ...components.statuses(),
    ...(node !== null && { node }),
    ...(reflector !== null && { reflector }),
    transfers,
    ...(warnings.length > 0 && { warnings }),
  };
  const services = wallet?.services ?? null;
  if (services === null) return answer;
  const members = walletMembers(services);
  const progress = numberIn(members['headers_synchronization_progress']);
  return {
    ...answer,
    wallet: members,
    connection_status: members['connected']
      ? { code: 'connected', message: 'A hub is connected.' }
      : {
          code: 'network_connection_lost',
          message: 'No hub is connected; the daemon is trying the next one.',
        },
    ...(progress !== null && {
      blockchain_headers: { downloading_headers: progress < COMPLETE, download_progress: float(progress) },
    }),
  };
}
