/** Filters of outputs as SQL over the table `txo`. Source: lbry-sdk lbry/wallet/database.py `select_txos`. */
import type { SqlValue } from '../../../sqlite/sqliteProvider.js';
import type { TxoFilter, TxoOrder } from '../txoQuery.js';
import type { Owners } from './owners.js';
import { blobList, textList } from '../../../sqlite/statements.js';

export interface SqlCondition {
  /** SQL text that starts with WHERE, for use in a statement. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export const ORDERS: Readonly<Record<TxoOrder, string>> = {
  height: 'ORDER BY txo.sort_key DESC, txo.tx DESC, txo.nout',
  name: 'ORDER BY txo.claim_name, txo.id',
  amount: 'ORDER BY txo.amount, txo.id',
  none: 'ORDER BY txo.id',
};

/** Returns the condition that a column has one of the numbers. */
export function among(column: string, numbers: readonly number[]): string {
  if (numbers.length === 0) return '0';
  return numbers.length === 1 ? `${column} = ${numbers[0]!}` : `${column} IN (${numbers.join(', ')})`;
}

/** Converts values to integers before they are inserted into the SQL text. Text of callers is never inserted. */
const integers = (numbers: readonly number[]): number[] =>
  numbers.map((number) => Math.trunc(Number(number)));

function ownership(filter: TxoFilter, owners: readonly number[]): string[] {
  const output = among('txo.owner', owners);
  const input = among('txo.input_owner', owners);
  const parts: string[] = [];
  if (filter.isMyInputOrOutput === true) parts.push(`(${output} OR ${input})`);
  else {
    if (filter.isMyOutput !== null)
      parts.push(filter.isMyOutput === false ? `NOT (${output})` : `(${output})`);
    if (filter.isMyInput !== undefined) parts.push(filter.isMyInput ? `(${input})` : `NOT (${input})`);
  }
  if (filter.excludeInternalTransfers === true)
    parts.push(`NOT (txo.txo_type = 0 AND ${output} AND ${input})`);
  return parts;
}

/** Lists are passed as JSON, which allows null bytes and other special characters. */
const IN_TEXTS = 'IN (SELECT value FROM json_each(?))';

export function txoCondition(filter: TxoFilter, owners: Owners): SqlCondition {
  const parts = ownership(filter, owners.of(filter.accountIds));
  const values: SqlValue[] = [];
  const add = (sql: string, ...more: SqlValue[]): void => {
    parts.push(sql);
    values.push(...more);
  };
  if (filter.isSpent === true) add('txo.spent_by IS NOT NULL');
  if (filter.isSpent === false) add('txo.spent_by IS NULL AND txo.is_reserved = 0');
  if (filter.types) {
    add(`(${among('txo.txo_type', integers(filter.types))})`);
    if (!filter.types.includes(0)) add('txo.txo_type <> 0');
  }
  if (filter.notTypes) add(`NOT (${among('txo.txo_type', integers(filter.notTypes))})`);
  if (filter.txids)
    add(
      `txo.tx IN (SELECT id FROM tx WHERE txid IN (SELECT unhex(value) FROM json_each(?)))`,
      blobList(filter.txids),
    );
  if (filter.nout !== undefined) add('txo.nout = ?', filter.nout);
  if (filter.outPoints)
    add(
      `txo.id IN (SELECT o.id FROM json_each(?) AS j JOIN tx AS t ON t.txid = unhex(j.value ->> 0)
        JOIN txo AS o ON o.tx = t.id AND o.nout = j.value ->> 1)`,
      JSON.stringify(filter.outPoints.map(({ txid, nout }) => [Buffer.from(txid).toString('hex'), nout])),
    );
  if (filter.claimIds) add(`txo.claim_id ${IN_TEXTS}`, textList(filter.claimIds));
  if (filter.names) add(`txo.claim_name ${IN_TEXTS}`, textList(filter.names));
  if (filter.channelIds) add(`txo.channel_id ${IN_TEXTS}`, textList(filter.channelIds));
  if (filter.notChannelIds)
    add(`(txo.channel_id IS NULL OR txo.channel_id NOT ${IN_TEXTS})`, textList(filter.notChannelIds));
  if (filter.repostedClaimIds) add(`txo.reposted_claim_id ${IN_TEXTS}`, textList(filter.repostedClaimIds));
  if (filter.hasSource !== undefined) add(`txo.has_source = ${Number(filter.hasSource)}`);
  if (filter.minHeight !== undefined) add('txo.height >= ?', filter.minHeight);
  if (filter.maxHeight !== undefined) add('txo.height <= ?', filter.maxHeight);
  if (filter.addresses)
    add(`txo.address IN (SELECT id FROM address WHERE text ${IN_TEXTS})`, textList(filter.addresses));
  return { sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values };
}

/** Filter members whose indexes exclude the most rows; used before other indexes. */
const SELECTIVE = [
  'txids',
  'outPoints',
  'claimIds',
  'names',
  'channelIds',
  'repostedClaimIds',
  'addresses',
] as const;

/**
 * Returns the SQL that names an index, or an empty text if SQLite chooses a good index itself. SQLite lacks statistics and
 * would choose a bad index for claims and supports, which are few among the outputs. For own inputs or outputs, a scan in
 * list order soon finds a match.
 */
export function indexFor(filter: TxoFilter, owners: Owners, order: TxoOrder = 'height'): string {
  // SQLite refuses `INDEXED BY` if a condition is always false, because it then uses no index.
  if (owners.of(filter.accountIds).length === 0) return '';
  const selective = SELECTIVE.filter((name) => filter[name] !== undefined);
  if (selective.length === 1 && selective[0] === 'names') return 'INDEXED BY txo_name';
  if (selective.length > 0) return '';
  if (filter.types && filter.types.length > 0 && !filter.types.includes(0)) return 'INDEXED BY txo_type';
  return filter.isMyInputOrOutput === true && order === 'height' ? 'INDEXED BY txo_order' : '';
}
