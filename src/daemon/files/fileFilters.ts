/**
 * Validates the filters of callers: fields, comparisons, order. Source: lbry-sdk
 * lbry/file/source_manager.py `get_filtered`.
 */
import { badValue } from '../base/daemonError.js';
import {
  COMPARISONS,
  isFileField,
  type FieldValue,
  type FileCondition,
  type FileSearch,
} from '../content/fileSearch.js';

export type FileFilter = Readonly<Record<string, FieldValue | readonly string[] | undefined>>;

export interface FileQuery {
  readonly filter: FileFilter;
  readonly comparison?: string | undefined;
  readonly sort?: string | undefined;
  readonly isReversed?: boolean;
}

/** Fields whose filter may be a list of values. For other fields a list matches no file. Source: `set_filter_fields`. */
const LISTED = new Set(['claim_id', 'outpoint', 'channel_claim_id']);

const isList = (value: FileFilter[string]): value is readonly string[] => Array.isArray(value);

/** Parses a search. Throws `ValueError` for an unknown field or comparison. An empty text counts as absent, as in lbry-sdk. */
export function searchOf({
  filter,
  comparison,
  sort,
  isReversed = false,
}: FileQuery): Omit<FileSearch, 'uploading'> {
  const compared = COMPARISONS.find((known) => known === (comparison || 'eq'));
  if (compared === undefined) throw badValue(`'${comparison}' is not a valid comparison`);
  const conditions = Object.entries(filter).flatMap(([field, given]): FileCondition[] => {
    if (given === undefined || field === 'full_status') return [];
    if (!isFileField(field)) throw badValue(`'${field}' is not a valid search operation`);
    return [{ field, value: isList(given) && !LISTED.has(field) ? [] : given, comparison: compared }];
  });
  const order = sort || 'rowid';
  if (!isFileField(order)) throw badValue(`'${order}' is not a valid field to sort by`);
  return { conditions, sort: order, isReversed };
}
