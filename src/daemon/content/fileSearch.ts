/**
 * SQL for the filters and the order of files, by the values of their fields. Source: lbry-sdk lbry/file/source_manager.py
 * `get_filtered`.
 */
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SqliteDatabase, SqlValue } from '../../sqlite/sqliteProvider.js';
import { textList } from '../../sqlite/statements.js';
import { streamNameOf, suggestedNameOf } from './fileNames.js';
import type { Pin, PinKind } from './rows.js';

export type FieldValue = string | number | boolean | null;
export type Comparison = 'eq' | 'ne' | 'g' | 'l' | 'ge' | 'le';

export interface FileCondition {
  readonly field: string;
  /** Value or values of the condition. A list matches if any of its values matches, with any comparison. */
  readonly value: FieldValue | readonly string[];
  readonly comparison: Comparison;
}

export interface FileSearch {
  /** Conditions of the search. A file must meet all of them. */
  readonly conditions: readonly FileCondition[];
  readonly sort: string;
  readonly isReversed: boolean;
  /** Descriptors of the streams that are being sent to a reflector. */
  readonly uploading: readonly string[];
}

/** A searchable field: the type of its values, and the SQL expression of its value. */
interface Field {
  readonly type: 'string' | 'number' | 'boolean';
  readonly sql: string;
  /** Values of the text parameters in `sql`. */
  readonly bound?: (facts: SearchFacts) => readonly string[];
  /** Whether the field needs a join with the table of claims. */
  readonly isOfClaim?: boolean;
}

interface SearchFacts {
  readonly pins: readonly Pin[];
  readonly uploading: readonly string[];
}

const idsOf = (pins: readonly Pin[], wanted: PinKind): string =>
  textList(pins.flatMap(({ kind, id }) => (kind === wanted ? [id] : [])));

const BLOBS = `(select count(*) from stream_blob b where b.stream_hash = f.stream_hash and b.blob_hash is not null)`;
const FINISHED = `(select count(*) from stream_blob b join blob l using (blob_hash)
  where b.stream_hash = f.stream_hash and l.status = 'finished')`;
/** Lower bound of the size of the whole file. Source: `lower_bound_decrypted_length`. */
const LOWER_BOUND = `max(0, (select total(l.blob_length) - count(*) - 15 from stream_blob b join blob l using (blob_hash)
  where b.stream_hash = f.stream_hash))`;
const SUGGESTED = 'suggested_name_of(s.suggested_filename, c.serialized_metadata)';
const COLON = `instr(c.claim_outpoint, ':')`;

const text = (sql: string, more: Partial<Field> = {}): Field => ({ type: 'string', sql, ...more });
const number = (sql: string, more: Partial<Field> = {}): Field => ({ type: 'number', sql, ...more });
const boolean = (sql: string, more: Partial<Field> = {}): Field => ({ type: 'boolean', sql, ...more });
const isOfClaim = true;

const FIELDS: Readonly<Record<string, Field>> = {
  rowid: number('f.rowid'),
  status: text('f.status'),
  // QUIRK: the field compares the displayed name, which is the suggested name if the file is not saved.
  file_name: text(`coalesce(text_of(f.file_name), ${SUGGESTED})`, { isOfClaim }),
  added_on: number('f.added_on'),
  download_path: text(`text_of(f.download_directory) || '/' || text_of(f.file_name)`),
  claim_name: text('c.claim_name', { isOfClaim }),
  claim_height: number('c.height', { isOfClaim }),
  claim_id: text('c.claim_id', { isOfClaim }),
  outpoint: text('c.claim_outpoint', { isOfClaim }),
  txid: text(`substr(c.claim_outpoint, 1, ${COLON} - 1)`, { isOfClaim }),
  nout: number(`cast(substr(c.claim_outpoint, ${COLON} + 1) as integer)`, { isOfClaim }),
  channel_claim_id: text('cast(c.channel_claim_id as text)', { isOfClaim }),
  channel_name: text(
    `(select h.claim_name from claim h where h.claim_id = cast(c.channel_claim_id as text) order by h.rowid desc limit 1)`,
    { isOfClaim },
  ),
  // A file that is still being saved may already reach the lower bound of its size, so it counts only if `saved_file` is
  // set or its status is not `running`.
  completed: boolean(`coalesce((f.saved_file = 1 or f.status <> 'running')
    and output_size(f.download_directory, f.file_name) >= ${LOWER_BOUND}, 0)`),
  sd_hash: text('s.sd_hash'),
  stream_hash: text('f.stream_hash'),
  stream_name: text('stream_name_of(s.stream_name, c.serialized_metadata)', { isOfClaim }),
  suggested_file_name: text(SUGGESTED, { isOfClaim }),
  blobs_in_stream: number(BLOBS),
  blobs_completed: number(FINISHED),
  blobs_remaining: number(`(${BLOBS} - ${FINISHED})`),
  full_status: text('null'),
  is_fully_reflected: boolean('exists (select 1 from reflected_stream r where r.sd_hash = s.sd_hash)'),
  is_pinned: boolean(
    `coalesce(f.stream_hash in (select value from json_each(?)) or cast(c.channel_claim_id as text) in (select value from json_each(?)), 0)`,
    { isOfClaim, bound: ({ pins }) => [idsOf(pins, 'stream'), idsOf(pins, 'channel')] },
  ),
  uploading_to_reflector: boolean('s.sd_hash in (select value from json_each(?))', {
    bound: ({ uploading }) => [textList(uploading)],
  }),
};

/** Fields that are null without a claim. */
const PLAIN_OF_CLAIM = new Set(['claim_name', 'claim_height', 'claim_id', 'outpoint', 'channel_claim_id']);

/** Field names come from clients, so inherited properties of the object, such as `toString`, must not match. */
export const isFileField = (name: string): boolean => Object.hasOwn(FIELDS, name);

const OPERATORS: Readonly<Record<Comparison, string>> = {
  eq: 'is',
  ne: 'is not',
  g: '>',
  l: '<',
  ge: '>=',
  le: '<=',
};
export const COMPARISONS = Object.keys(OPERATORS) as readonly Comparison[];

/** SQL with the values of its parameters. */
interface Bound {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

const NEVER: Bound = { sql: '0', values: [] };
const ALWAYS: Bound = { sql: '1', values: [] };

const boundsOf = (field: Field, facts: SearchFacts): readonly string[] => field.bound?.(facts) ?? [];

/** A missing value, or one of another type, is neither greater nor less. lbry-sdk fails in this case. */
function conditionOf({ field: name, value, comparison }: FileCondition, facts: SearchFacts): Bound {
  const field = FIELDS[name]!;
  const own = boundsOf(field, facts);
  if (typeof value === 'object' && value !== null)
    return { sql: `(${field.sql}) in (select value from json_each(?))`, values: [...own, textList(value)] };
  const isEquality = comparison === 'eq' || comparison === 'ne';
  if (value !== null && typeof value !== field.type) return comparison === 'ne' ? ALWAYS : NEVER;
  if (value === null && !isEquality) return NEVER;
  const given = typeof value === 'boolean' ? Number(value) : value;
  // SQLite uses an index for the operator `=`, but not for `is`.
  const operator = comparison === 'eq' && value !== null ? '=' : OPERATORS[comparison];
  return { sql: `(${field.sql}) ${operator} ?`, values: [...own, given] };
}

/**
 * Returns the part of a statement from the word `from` on, without a limit. If a stream has several rows, only the last row
 * counts.
 */
export function searchSql(
  { conditions, sort, isReversed, uploading }: FileSearch,
  pins: readonly Pin[],
): { readonly from: Bound; readonly order: Bound } {
  const facts = { pins, uploading };
  const used = [...conditions.map(({ field }) => FIELDS[field]!), FIELDS[sort]!];
  // A condition on a field of the claim that cannot match null needs an inner join. With an inner join SQLite may start
  // with the table of claims.
  const needsClaim = conditions.some(
    ({ field, value, comparison }) =>
      PLAIN_OF_CLAIM.has(field) && value !== null && (comparison === 'eq' || typeof value === 'object'),
  );
  const join = needsClaim ? 'join' : 'left join';
  const joins = used.some((field) => field.isOfClaim === true)
    ? `${join} content_claim o on o.stream_hash = f.stream_hash ${join} claim c using (claim_outpoint)`
    : '';
  const tests = conditions.map((condition) => conditionOf(condition, facts));
  const single =
    'not exists (select 1 from file g where g.stream_hash = f.stream_hash and g.rowid > f.rowid)';
  const where = [single, ...tests.map(({ sql }) => `(${sql})`)].join(' and ');
  const direction = isReversed ? 'desc' : 'asc';
  const key = sort === 'rowid' ? '' : `${FIELDS[sort]!.sql} ${direction}, `;
  return {
    from: {
      sql: `from file f join stream s using (stream_hash) ${joins} where ${where}`,
      values: tests.flatMap(({ values }) => values),
    },
    order: {
      sql: `order by ${key}f.rowid ${direction}`,
      values: sort === 'rowid' ? [] : boundsOf(FIELDS[sort]!, facts),
    },
  };
}

/** Reads a text of hexadecimal digits. lbry-sdk stored some of these texts as SQL blobs that contain the digits. */
export function digitsOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString('latin1');
}

/** Decodes a text that is stored as the hexadecimal digits of its UTF-8 bytes. */
export function textOf(value: unknown): string | null {
  const digits = digitsOf(value);
  return digits === null ? null : Buffer.from(digits, 'hex').toString('utf8');
}

/** Size of a saved file in bytes; null if the file does not exist. */
export function savedSize(directory: string | null, fileName: string | null): number | null {
  if (directory === null || fileName === null) return null;
  const found = statSync(join(directory, basename(fileName)), { throwIfNoEntry: false });
  return found?.isFile() === true ? found.size : null;
}

/** Registers the SQL functions that the fields use. */
export function addSearchFunctions(database: SqliteDatabase): void {
  database.function('text_of', (value) => textOf(value ?? null));
  const named = (name: string, of: (inDescriptor: string, claimValue: string) => string): void =>
    database.function(name, (inDescriptor, value) => of(textOf(inDescriptor) ?? '', digitsOf(value) ?? ''));
  named('stream_name_of', streamNameOf);
  named('suggested_name_of', suggestedNameOf);
  database.function('output_size', (directory, fileName) => {
    try {
      return savedSize(textOf(directory), textOf(fileName));
    } catch {
      // A folder that cannot be entered counts as a missing file.
      return null;
    }
  });
}
