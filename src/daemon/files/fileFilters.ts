/**
 * Which files are meant, and in which order: by the values of their fields. Source: lbry-sdk lbry/file/source_manager.py
 * `get_filtered`.
 */
import { badValue } from '../base/daemonError.js';
import type { ManagedFile } from './managedFile.js';

export type FieldValue = string | number | boolean | null;

/** Values of all files that fields need and rows do not have. */
export interface FilterFacts {
  /** Finished data blobs by stream hash. */
  readonly finished: ReadonlyMap<string, number>;
  readonly isReflected: (file: ManagedFile) => boolean;
  readonly isReflecting: (file: ManagedFile) => boolean;
  readonly isPinned: (file: ManagedFile) => boolean;
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
  download_path: ({ place }) => (place === null ? null : `${place.directory}/${place.fileName}`),
  claim_name: claimed('name'),
  claim_height: ({ row }) => row.claim?.height ?? null,
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
  is_pinned: (file, { isPinned }) => isPinned(file),
  uploading_to_reflector: (file, { isReflecting }) => isReflecting(file),
};

/** Fields whose filters may be lists: any of their values fits, whatever the comparison. Source: `set_filter_fields`. */
const LISTED = new Set(['claim_id', 'outpoint', 'channel_claim_id']);

type Compare = (ours: FieldValue, given: FieldValue) => boolean;
type Ordered = number | string | boolean;

/** A file without a value, or with one of another type, does not fit. lbry-sdk fails there. */
const ordered =
  (holds: (ours: Ordered, given: Ordered) => boolean): Compare =>
  (ours, given) =>
    ours !== null && given !== null && typeof ours === typeof given && holds(ours, given);

const COMPARISONS: Readonly<Record<string, Compare>> = {
  eq: (ours, given) => ours === given,
  ne: (ours, given) => ours !== given,
  g: ordered((ours, given) => ours > given),
  l: ordered((ours, given) => ours < given),
  ge: ordered((ours, given) => ours >= given),
  le: ordered((ours, given) => ours <= given),
};

export type FileFilter = Readonly<Record<string, FieldValue | readonly string[] | undefined>>;

const isList = (value: FileFilter[string]): value is readonly string[] => Array.isArray(value);

/** Names come from outside: those of every object are none of ours. */
const own = <Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

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
  // An empty text is none, as in lbry-sdk.
  const compare = own(COMPARISONS, comparison || 'eq');
  if (compare === undefined) throw badValue(`'${comparison}' is not a valid comparison`);
  const tests = Object.entries(filter).flatMap(([name, given]) => {
    if (given === undefined || name === 'full_status') return [];
    const field = own(FIELDS, name);
    if (field === undefined) throw badValue(`'${name}' is not a valid search operation`);
    // A list of one is what a single value is read as.
    const value = isList(given) && given.length === 1 ? given[0]! : given;
    if (!isList(value)) return [(file: ManagedFile) => compare(field(file, facts), value)];
    const any = new Set<FieldValue>(LISTED.has(name) ? value : []);
    return [(file: ManagedFile) => any.has(field(file, facts))];
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
  const field = own(FIELDS, sort || 'rowid');
  if (field === undefined) throw badValue(`'${sort}' is not a valid field to sort by`);
  const sorted = files
    .map((file) => ({ file, value: field(file, facts) }))
    .sort((a, b) => order(a.value, b.value))
    .map(({ file }) => file);
  return isReversed ? sorted.reverse() : sorted;
}
