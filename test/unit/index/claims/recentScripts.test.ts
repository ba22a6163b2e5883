import { expect, it } from 'vitest';
import { loadBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { pointKey } from '../../../../src/claimtrie/item.js';
import { RecentScripts } from '../../../../src/index/claims/recentScripts.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { outputScriptAt, txidAt } from '../../../../src/primitives/blockView.js';

const { raw, parsed } = loadBlock(regtestParams.genesis.block);
const point = pointKey(txidAt(parsed, 0), 0);

it('finds the script of an output by its position, only if it is that output', () => {
  const recent = new RecentScripts();
  recent.add({ id: 5, raw, parsed });
  expect(recent.find(5, 0, point)).toEqual(outputScriptAt(raw, parsed, 0));
  expect(recent.find(4, 0, point)).toBeNull();
  expect(recent.find(5, 1, point)).toBeNull();
  expect(recent.find(5, 0, pointKey(txidAt(parsed, 0), 1))).toBeNull();
  expect(recent.find(5, 0, pointKey(Buffer.alloc(32), 0))).toBeNull();
});

it('keeps few blocks, of many or large ones the latest', () => {
  const recent = new RecentScripts();
  for (let id = 0; id < 300; id++) recent.add({ id, raw, parsed });
  const kept = Array.from({ length: 300 }, (_, id) => id).filter((id) => recent.find(id, 0, point) !== null);
  expect(kept).toEqual(Array.from({ length: 256 }, (_, n) => 44 + n));
  const large = Buffer.concat([raw, Buffer.alloc(5 << 20)]);
  for (let id = 300; id < 310; id++) recent.add({ id, raw: large, parsed });
  expect(recent.find(308, 0, point)).toBeNull();
  expect(recent.find(309, 0, point)).not.toBeNull();
});
