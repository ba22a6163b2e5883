/**
 * Which files are meant, and in which order: by the values of their fields. Source: lbry-sdk lbry/file/source_manager.py
 * `get_filtered`.
 */
import { badValue } from '../base/daemonError.js';
import type { ManagedFile } from './managedFile.js';
import { pathOf } from './outputs.js';

export type FieldValue = string | number | boolean | null;

/** Values of all files that fields need and rows do not have. */
export interface FilterFacts {
  /** Finished data blobs by stream hash. */
  readonly finished: ReadonlyMap<string, number>;
  readonly isReflected: (file: ManagedFile) => boolean;
  readonly isReflecting: (file: ManagedFile) => boolean;
}

type Field = (file: ManagedFile, facts: FilterFacts) => FieldValue;

const claimed =
  (field: 'claimId' | 'outpoint' | 'name' | 'channelClaimId'): Field =>
  ({ row }) =>
    row.claim?.[field] ?? null;

const finishedOf: (file: ManagedFile, facts: FilterFacts) => number = ({ row }, { finished }) =>
  finished.get(row.streamHash) ?? 0;

const FIELDS: Readonly<Record<string, Field>> = {
  rowid: ({ row }) => row.rowid,
  status: ({ row }) => row.status,
  // QUIRK: the name that is shown, or the suggested one where nothing is saved.
  file_name: (file) => file.row.fileName ?? file.suggestedFileName,
  added_on: ({ row }) => row.addedOn,
  download_path: ({ place }) => (place === null ? null : pathOf(place)),
  claim_name: claimed('name'),
  claim_id: claimed('claimId'),
  outpoint: claimed('outpoint'),
  txid: ({ row }) => row.claim?.outpoint.split(':')[0] ?? null,
  nout: ({ row }) => (row.claim === null ? null : Number(row.claim.outpoint.split(':')[1])),
  channel_claim_id: claimed('channelClaimId'),
  channel_name: ({ row }) => row.channelName,
  completed: (file) => file.isCompleted,
  sd_hash: ({ row }) => row.sdHash,
  stream_hash: ({ row }) => row.streamHash,
  stream_name: (file) => file.streamName,
  suggested_file_name: (file) => file.suggestedFileName,
  blobs_in_stream: ({ row }) => row.blobsInStream,
  blobs_completed: finishedOf,
  blobs_remaining: (file, facts) => file.row.blobsInStream - finishedOf(file, facts),
  full_status: () => null,
  is_fully_reflected: (file, { isReflected }) => isReflected(file),
  uploading_to_reflector: (file, { isReflecting }) => isReflecting(file),
};

/** Fields whose filters may be lists: any of their values fits. Source: `set_filter_fields`. */
const LISTED = new Set(['claim_id', 'outpoint', 'channel_claim_id']);

type Compare = (ours: FieldValue, given: FieldValue) => boolean;

const ordered =
  (holds: (ours: number | string, given: number | string) => boolean): Compare =>
  (ours, given) => {
    const isPair = typeof ours === typeof given && (typeof ours === 'number' || typeof ours === 'string');
    return isPair && holds(ours, given as number | string);
  };

const COMPARISONS: Readonly<Record<string, Compare>> = {
  eq: (ours, given) => ours === given,
  ne: (ours, given) => ours !== given,
  g: ordered((ours, given) => ours > given),
  l: ordered((ours, given) => ours < given),
  ge: ordered((ours, given) => ours >= given),
  le: ordered((ours, given) => ours <= given),
};

export type FileFilter = Readonly<Record<string, FieldValue | readonly string[] | undefined>>;

/** Fields that need `FilterFacts.finished`. */
export const needsFinished = (filter: FileFilter, sort: string | undefined): boolean =>
  [...Object.keys(filter), sort ?? ''].some((name) => name.startsWith('blobs_'));

/** Fields that need `FilterFacts.isReflected`. */
export const needsReflected = (filter: FileFilter, sort: string | undefined): boolean =>
  'is_fully_reflected' in filter || sort === 'is_fully_reflected';

/** The files that fit all of the filter. Throws `ValueError` for a comparison that there is not. */
export function filterFiles(
  files: readonly ManagedFile[],
  filter: FileFilter,
  facts: FilterFacts,
  comparison = 'eq',
): ManagedFile[] {
  const compare = COMPARISONS[comparison];
  if (compare === undefined) throw badValue(`'${comparison}' is not a valid comparison`);
  const tests = Object.entries(filter).flatMap(([name, given]) => {
    const field = FIELDS[name];
    if (given === undefined || name === 'full_status') return [];
    if (field === undefined) throw badValue(`'${name}' is not a valid search operation`);
    if (Array.isArray(given) || LISTED.has(name)) {
      const any = new Set<FieldValue>(Array.isArray(given) ? (given as string[]) : [given as FieldValue]);
      return [(file: ManagedFile) => any.has(field(file, facts))];
    }
    return [(file: ManagedFile) => compare(field(file, facts), given as FieldValue)];
  });
  return files.filter((file) => tests.every((test) => test(file)));
}

/** Orders texts before numbers, and what has no value before both. */
function order(a: FieldValue, b: FieldValue): number {
  const rank = (value: FieldValue): number => (value === null ? 0 : typeof value === 'string' ? 1 : 2);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  return a === b ? 0 : a! < b! ? -1 : 1;
}

/** Throws `ValueError` for a field that there is not. */
export function sortFiles(
  files: readonly ManagedFile[],
  facts: FilterFacts,
  sort = 'rowid',
  isReversed = false,
): ManagedFile[] {
  const field = FIELDS[sort];
  if (field === undefined) throw badValue(`'${sort}' is not a valid field to sort by`);
  const sorted = files
    .map((file) => ({ file, value: field(file, facts) }))
    .sort((a, b) => order(a.value, b.value))
    .map(({ file }) => file);
  return isReversed ? sorted.reverse() : sorted;
}
