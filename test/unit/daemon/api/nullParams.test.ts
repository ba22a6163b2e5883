/** Parameters for which lbry-sdk refuses a null, and those for which it does not: lbry/schema/claim.py `none_check`. */
import { expect, it } from 'vitest';
import { DECLARATIONS } from '../../../../src/daemon/api/declarations/table.js';
import { readParams } from '../../../../src/daemon/api/paramReading.js';
import type { JsonValue } from '../../../../src/util/json/json.js';

function readNull(method: string, name: string): () => unknown {
  const declaration = DECLARATIONS.find((one) => one.name === method)!;
  expect(declaration.params.map((param) => param.name)).toContain(name);
  const params = declaration.params.filter((param) => param.name === name);
  return () => readParams({ ...declaration, params }, { positional: [], named: new Map([[name, null]]) });
}

it.each([
  [
    'collection_update',
    ['claims', 'clear_claims', 'clear_tags', 'clear_languages', 'clear_locations', 'title'],
  ],
  ['channel_update', ['featured', 'clear_featured', 'clear_tags', 'email']],
  ['stream_update', ['clear_tags', 'clear_languages', 'clear_locations', 'author', 'file_name', 'tags']],
])('%s refuses null for fields of the claim', (method, names) => {
  for (const name of names)
    expect(readNull(method, name), name).toThrow(
      expect.objectContaining({
        name: 'InputValueIsNoneError',
        message: `None or null is not valid value for argument '${name}'.`,
      }),
    );
});

it.each([
  ['publish', ['width', 'height', 'duration', 'clear_fee', 'channel_id', 'account_id']],
  ['stream_create', ['width', 'height', 'duration', 'funding_account_ids', 'fee_amount', 'fee_currency']],
  ['stream_update', ['bid', 'clear_fee', 'clear_channel', 'width', 'replace', 'fee_amount', 'fee_currency']],
])('%s treats null as absent', (method, names) => {
  for (const name of names) expect(readNull(method, name), name).not.toThrow();
});

it('are values in filters of files, and an empty list is none of the files', () => {
  const read = (method: string, name: string, value: JsonValue): unknown => {
    const declaration = DECLARATIONS.find((one) => one.name === method)!;
    return readParams(declaration, { positional: [], named: new Map([[name, value]]) })[name];
  };
  for (const method of ['file_list', 'file_delete', 'file_save', 'file_pin', 'file_unpin', 'file_reflect'])
    for (const name of ['claim_id', 'channel_claim_id'])
      expect(
        [null, [], ['a'], 'a'].map((value) => read(method, name, value)),
        method,
      ).toEqual([null, [], ['a'], 'a']);
  expect([read('file_list', 'rowid', null), read('file_list', 'completed', null)]).toEqual([null, null]);
  expect(read('txo_list', 'claim_id', [])).toBeUndefined();
});
