/**
 * lbcd's `getchangesinblock`: the names that a block changed, and the names of items that were scheduled for an event in it,
 * in byte order. lbcd counts every spend of a claim or support, even if the spent output has expired or was created in the
 * same block. These names are stored with each block; for blocks connected by an older version they are computed from the
 * coins that the block spent, unless it is pruned. Difference from lbcd: lbcd also keeps names that it stored for blocks
 * that a reorg disconnected. Source: lbcd blockchain/claimtrie.go `handleTxIns`.
 */
import { filesNormalized } from '../../../../claimtrie/rules.js';
import { normalizeKey } from '../../../../claimtrie/nameKey.js';
import { decodeClaimScript } from '../../../../script/claimScript.js';
import { fromLatin1, hashToHex, toLatin1 } from '../../../../util/bytes.js';
import { readUndoChecked } from '../../../lookup/blockLookup.js';
import { nameTextWithReplacements } from '../../../format/claimsText.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import { retryWhileGone, type QueriedBlock } from '../atBlock.js';
import { HASH_OR_HEIGHT_PARAM, lbcdBlock } from './lbcdBlock.js';

/** Returns the names of the items that a block spent, in their stored form at that height. Empty if the block was pruned. */
async function spentNames(services: RpcServices, { id, height }: QueriedBlock): Promise<string[]> {
  const { chain, claims } = services;
  if (!chain.hasData(id)) return [];
  const isNormalized = filesNormalized(claims.rules, height);
  const names: string[] = [];
  for (const { script } of await readUndoChecked(services, id)) {
    const spent = decodeClaimScript(script);
    if (spent === null) continue;
    const name = toLatin1(spent.name);
    names.push(isNormalized ? normalizeKey(name) : name);
  }
  return names;
}

export const lbcdGetChangesInBlock = defineMethod({
  name: 'getchangesinblock',
  category: 'claimtrie',
  follows: 'chain',
  summary: 'Returns the names whose claims, supports or controlling claim a block changed.',
  params: [HASH_OR_HEIGHT_PARAM],
  result: t.object({
    hash: t.hash('the hash of that block'),
    height: t.int('the height of the block'),
    names: t.array(t.str('a name'), 'in byte order'),
  }),
  examples: [[], ['"125"']],
  profiles: ['lbcd'],
  run({ services }, { hashorheight }) {
    const { claims, chain } = services;
    const named = (): ReturnType<typeof lbcdBlock> => lbcdBlock(services, hashorheight);
    return retryWhileGone(services, named, async (block) => {
      const touched = (await claims.lbcdChangesIn(block.height)).map(toLatin1);
      const names = new Set([...touched, ...(await spentNames(services, block))]);
      return {
        hash: hashToHex(chain.headers.hash(block.id)),
        height: block.height,
        names: [...names].map(fromLatin1).sort(Buffer.compare).map(nameTextWithReplacements),
      };
    });
  },
});
