/**
 * The identity of a data folder: the network and the rules under which its chain state was computed. Stored once and
 * compared at every start, so that a folder is never used under other rules.
 */
import { PREFIX } from '../../store/rows/keys.js';
import type { RowStore } from '../../store/rows/rowStore.js';
import { DatabaseCorruptionError } from '../../store/leveldb/levelDb.js';
import { hashFromHex } from '../../util/bytes.js';
import { parseChainState } from '../connect/chainState.js';
import { formatIndexPosition, indexPositionKey } from '../connect/contributor.js';
import { OperatorError } from '../../util/text/operatorError.js';

/**
 * Version of the row formats. Incremented when rows change their meaning, so that an older version refuses the folder
 * instead of misreading its rows.
 */
const SCHEMA = 3;
/**
 * Oldest schema that can be read. Folders of an older schema than `SCHEMA` are upgraded when opened; those below this one
 * must be rebuilt from their block files. In schema 2, blocks stored their changes to the claim trie slot by slot
 * (`store/claims/query/pastNodes.ts`).
 */
const OLDEST_SCHEMA = 2;

export interface FolderIdentity {
  network: string;
  /** Activation delay of supports: `proportional`, or a fixed number of blocks. */
  supportDelay: string;
  /** The current fork heights and expiration terms of the network, as text (on regtest, options can change them). */
  claimRules: string;
  /** Heights of forks that do not concern claims. Absent in folders that were created before this field existed. */
  scriptForks?: string;
  /** Number of the latest blocks with name proofs, or `all`. */
  proofWindow: string;
}

/** Error: the folder cannot be used with these options. The message states the reason and the remedy. */
export class FolderError extends OperatorError {
  override readonly name = 'FolderError';
}

/** Formats the identity as the row at `IDENTITY_KEY`. */
export function formatIdentity(identity: FolderIdentity): Buffer {
  return Buffer.from(JSON.stringify({ schema: SCHEMA, ...identity }));
}

/** Key of the row with the identity. */
export const IDENTITY_KEY = PREFIX.meta + 'identity';

/**
 * The stored identity of a folder. Older versions also stored which indexes the folder had; these indexes were always at the
 * tip.
 */
type Stored = FolderIdentity & { schema: number; txIndex?: boolean; addressIndex?: boolean };

/**
 * Reads the identity of the folder. Returns null if no node has written to the folder yet. Throws `DatabaseCorruptionError`
 * when the identity is unreadable.
 */
export async function readIdentity(store: RowStore, database: string): Promise<Stored | null> {
  const row = await store.get(IDENTITY_KEY);
  if (!row) return null;
  try {
    return JSON.parse(Buffer.from(row).toString()) as Stored;
  } catch {
    throw new DatabaseCorruptionError(database, 'the row that contains the network and rules cannot be read');
  }
}

/**
 * Compares the folder with the requested identity; a new folder gets the requested one. Settings that only decide which rows
 * are stored may change if all rows are `rebuilt`. `database` is the path of the database. Throws `FolderError`.
 */
export async function claimFolder(
  store: RowStore,
  database: string,
  wanted: FolderIdentity,
  rebuilt: boolean,
): Promise<void> {
  const stored = await readIdentity(store, database);
  const write = (): void => store.put(IDENTITY_KEY, formatIdentity(wanted));
  if (stored === null) {
    write();
    return;
  }
  if (!(stored.schema >= OLDEST_SCHEMA && stored.schema <= SCHEMA)) {
    throw new FolderError(
      `The data folder was written by another version of the node (schema ${stored.schema}; this version ` +
        `uses ${SCHEMA}). Restart with -reindex to rebuild it from the block files.`,
    );
  }
  if (stored.network !== wanted.network) {
    throw new FolderError(`The data folder belongs to the network ${stored.network}, not ${wanted.network}.`);
  }
  if (stored.supportDelay !== wanted.supportDelay) {
    throw new FolderError(
      `The data folder was created with -supportdelay=${stored.supportDelay} and cannot be opened with ` +
        `-supportdelay=${wanted.supportDelay}. Use the same option, or another folder.`,
    );
  }
  if (stored.claimRules !== wanted.claimRules) {
    throw new FolderError(
      `The data folder was created with other fork heights or expiration terms (${stored.claimRules}; now ` +
        `${wanted.claimRules}). Use the same -forkheight and -claimexpiration, or another folder.`,
    );
  }
  if (stored.scriptForks !== undefined && stored.scriptForks !== wanted.scriptForks) {
    throw new FolderError(
      `The data folder was created with other fork heights (${stored.scriptForks}; now ` +
        `${wanted.scriptForks}). Use the same -forkheight, or another folder.`,
    );
  }
  if (rebuilt) {
    write();
    return;
  }
  if (stored.proofWindow !== wanted.proofWindow) {
    throw new FolderError(
      `You need to rebuild the database using -reindex-chainstate to change the window of name proofs (${stored.proofWindow} now)`,
    );
  }
  if (stored.txIndex !== undefined) await adoptIndexes(store, stored);
  if (stored.schema !== SCHEMA || stored.scriptForks === undefined || stored.txIndex !== undefined) write();
}

/** For a folder of an older version, records that the indexes are at the folder's tip. */
async function adoptIndexes(store: RowStore, { txIndex, addressIndex }: Stored): Promise<void> {
  const { tip } = parseChainState(await store.get(PREFIX.tip));
  if (tip === null) return;
  const position = formatIndexPosition(1, hashFromHex(tip));
  if (txIndex) store.put(indexPositionKey('txindex'), position);
  if (addressIndex) store.put(indexPositionKey('addressindex'), position);
}
