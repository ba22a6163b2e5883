/** Which schema versions of a folder are accepted and which are refused. */
import { describe, expect, it } from 'vitest';
import {
  claimFolder,
  FolderError,
  IDENTITY_KEY,
  readIdentity,
} from '../../../../src/chain/open/folderIdentity.js';
import type { RowStore } from '../../../../src/store/rows/rowStore.js';
import type { Bytes } from '../../../../src/util/bytes.js';

const IDENTITY = {
  network: 'regtest',
  supportDelay: 'proportional',
  claimRules: 'some',
  scriptForks: 'others',
  proofWindow: '5000',
};

/** A folder with this schema version in its identity; `undefined`: an identity without schema. */
function folderOf(schema: unknown): RowStore {
  const rows = new Map<string, Bytes>([[IDENTITY_KEY, Buffer.from(JSON.stringify({ schema, ...IDENTITY }))]]);
  const get = async (key: string): Promise<Bytes | undefined> => rows.get(key);
  const put = (key: string, row: Bytes): void => void rows.set(key, row);
  return { get, put } as Partial<RowStore> as RowStore;
}

describe('the schema of a folder', () => {
  it.each([2, 3])('%s is accepted, and upgraded to the newest', async (schema) => {
    const store = folderOf(schema);
    await claimFolder(store, 'folder', IDENTITY, false);
    expect(await readIdentity(store, 'folder')).toEqual({ schema: 3, ...IDENTITY });
  });

  it.each([1, 4, undefined, 'x'])('%s is refused with advice', async (schema) => {
    const refused = expect(claimFolder(folderOf(schema), 'folder', IDENTITY, false)).rejects;
    await refused.toThrow(FolderError);
    await expect(claimFolder(folderOf(schema), 'folder', IDENTITY, true)).rejects.toThrow('-reindex');
  });
});
