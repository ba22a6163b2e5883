/**
 * Connects the claims of an ordinary block in the addon with one call (`native/claims/blockWork.h`): the addon reads the rows, applies
 * the operations, and returns the records of all changed rows. It gives the same rows as `connectClaims`, which connects all other
 * blocks: fork blocks, blocks in which items expire, and blocks that the addon declines. Test:
 * test/differential/ordinaryBlock.test.ts.
 */
import { normalizeKey } from '../../claimtrie/nameKey.js';
import {
  countsMetadataSupports,
  expiringCreation,
  hashesAllClaims,
  inRemovalWorkaround,
  inTakeoverWorkaround,
  isHashFork,
} from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { loadNative, type NativeBlockClaims } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import type { RowTransaction } from '../rows/rows.js';
import type { TrieChanges } from './connect.js';
import type { IdleNames } from './idleNames.js';
import { readChanges } from './ordinaryChanges.js';
import { isRefileFork } from './refileFork.js';
import { CLAIM_PREFIX, logKey } from './rows/claimKeys.js';
import { parseLogChunk } from './rows/logRow.js';
import { dropsEpoch, type VersionWriter } from './versions.js';

const { name, item, node, summary, due, support, claimId, owner, log, idle, fleeting, fleetingAt, version } =
  CLAIM_PREFIX;
/** Types of the rows that the addon reads. It has caches of the first three. */
const READ_KINDS = name + item + node + summary + due + support;
const WRITTEN_KINDS = READ_KINDS + claimId + owner + log + idle + fleeting + fleetingAt + version;
const HASH_BYTES = 32;
/** Number of bytes before the records in the addon's result: the root, whether there are notes, and the size of the records. */
const HEAD_BYTES = HASH_BYTES + 1 + 4;
/** Number of bytes of the rules that are passed to the addon. */
const RULES_BYTES = 16;

export interface OrdinaryBlockDeps {
  readonly rules: ClaimRules;
  readonly versions: VersionWriter;
  readonly idle: IdleNames;
}

/** The result for one block. No row is written before `write` is called. */
export interface OrdinaryBlock {
  readonly root: Bytes;
  /** Null if they were not requested. */
  readonly changes: TrieChanges | null;
  /** Adds the changed rows to the transaction. */
  write(): Promise<void>;
}

/** Object of the addon. Its memory is reused for the next block. */
let shared: NativeBlockClaims | null = null;
const rulesBytes = Buffer.alloc(RULES_BYTES);

/**
 * Computes the block at `height`, which must follow the committed blocks. `operations` returns its packed claim operations.
 * `describes`: the result must have the changes. Returns null if `connectClaims` must connect the block.
 */
export function connectOrdinary(
  rows: RowTransaction,
  height: number,
  operations: () => Buffer,
  describes: boolean,
  { rules, versions, idle }: OrdinaryBlockDeps,
): OrdinaryBlock | null {
  const addon = loadNative();
  const bits = idle.loadedBits;
  if (addon === null || bits === null) return null;
  if (isRefileFork(rules, height) || isHashFork(rules, height)) return null;
  if (height === rules.extendedExpirationForkHeight || dropsEpoch(versions.window, height)) return null;
  const source = rows.sourceOf?.(READ_KINDS);
  if (!source || mayExpire(rows, rules, height)) return null;
  const generation = hashesAllClaims(rules, height - 1) ? '1' : '0';
  const answer = (shared ??= new addon.BlockClaims()).connect(
    source.overlay,
    source.cacheOf(name),
    source.cacheOf(item),
    source.cacheOf(node),
    source.database,
    packedRules(rules, height),
    versions.notePrefix(generation, height),
    bits,
    normalizeKey,
    operations(),
    describes,
  );
  if (answer === null) return null;
  const end = HEAD_BYTES + answer.readUInt32LE(HASH_BYTES + 1);
  return {
    root: answer.subarray(0, HASH_BYTES),
    changes: describes ? readChanges(answer.subarray(end), height) : null,
    write: async () => {
      if (answer[HASH_BYTES] === 1) await versions.noteFirst(rows, height);
      rows.putRecords(WRITTEN_KINDS, answer.subarray(HEAD_BYTES, end));
    },
  };
}

/** Whether items (claims and supports) may expire in the block. Also true if rows must be read asynchronously to find out. */
function mayExpire(rows: RowTransaction, rules: ClaimRules, height: number): boolean {
  const created = expiringCreation(rules, height);
  if (created < 0) return false;
  const found = rows.getManyNow?.([logKey(created, 0)]);
  if (!found) return true;
  const [chunk] = found;
  return chunk !== undefined && parseLogChunk(created, chunk).some(({ op }) => op === 'create');
}

/** The rules at `height`, as `BlockRules` of the addon reads them. */
function packedRules(rules: ClaimRules, height: number): Buffer {
  const { normalizationForkHeight, supportDelay } = rules;
  let at = rulesBytes.writeUInt32LE(height);
  at = rulesBytes.writeUInt32LE(normalizationForkHeight, at);
  at = rulesBytes.writeUInt32LE(supportDelay === 'proportional' ? 0 : supportDelay, at);
  rulesBytes[at++] = Number(hashesAllClaims(rules, height - 1));
  rulesBytes[at++] = Number(inTakeoverWorkaround(rules, height));
  rulesBytes[at++] = Number(inRemovalWorkaround(rules, height));
  rulesBytes[at] = Number(countsMetadataSupports(rules, height));
  return rulesBytes;
}
