/**
 * Record types of a Berkeley DB log that change B-trees, and the fields of the types that can be redone and undone. Source:
 * Oracle Berkeley DB, btree/btree.src, db/db.src.
 */
import type { BerkeleyLogRecord, Lsn } from './berkeleyLog.js';

export const RECORD = {
  addrem: 41,
  big: 43,
  ovref: 44,
  noop: 48,
  allocate: 49,
  free: 50,
  freeData: 52,
  adjust: 55,
  countAdjust: 56,
  markDeleted: 57,
  replace: 58,
  root: 59,
  split: 62,
  reverseSplit: 63,
  metaPage: 142,
  relink: 147,
} as const;
export const ADD = 1;
export const REMOVE = 2;
export const ADD_BIG = 3;
export const APPEND_BIG = 7;
/**
 * Number of lower bits of an operation code that contain the page type. From log version `FLAGS_FIRST` on, the bits above
 * them contain the operation.
 */
const PAGE_TYPE_BITS = 8;
/** Log version from which on a split record starts with flags. */
export const FLAGS_FIRST = 17;

export interface Addrem {
  code: number;
  page: number;
  index: number;
  size: number;
  head: Buffer;
  data: Buffer;
  before: Lsn;
}

export const codeOf = (code: number, version: number): number =>
  version >= FLAGS_FIRST ? code >>> PAGE_TYPE_BITS : code;

export function addremOf({ fields: all, version }: BerkeleyLogRecord): Addrem {
  const fields = all.again();
  const code = codeOf(fields.u32(), version);
  fields.u32();
  const [page, index, size] = [fields.u32(), fields.u32(), fields.u32()];
  return { code, page, index, size, head: fields.data(), data: fields.data(), before: fields.lsn() };
}

export function markOf({ fields: all }: BerkeleyLogRecord): { page: number; before: Lsn; index: number } {
  const fields = all.again();
  fields.u32();
  return { page: fields.u32(), before: fields.lsn(), index: fields.u32() };
}

export interface BerkeleyReplacement {
  page: number;
  before: Lsn;
  index: number;
  wasDeleted: boolean;
  original: Buffer;
  replacement: Buffer;
  prefix: number;
  suffix: number;
}

export function replaceOf({ fields: all }: BerkeleyLogRecord): BerkeleyReplacement {
  const fields = all.again();
  fields.u32();
  return {
    page: fields.u32(),
    before: fields.lsn(),
    index: fields.u32(),
    wasDeleted: fields.u32() !== 0,
    original: fields.data(),
    replacement: fields.data(),
    prefix: fields.u32(),
    suffix: fields.u32(),
  };
}
