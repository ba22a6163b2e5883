import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import type { PageContext, PageResult } from '../../../src/explorer/pageContext.js';
import { proof } from '../../../src/explorer/pages/proof.js';

const HASH = '12'.repeat(32);
const HEADER = {
  hash: HASH,
  height: 7,
  version: 1,
  merkleroot: HASH,
  nameclaimroot: HASH,
  time: 1,
  bits: '207fffff',
  nonce: 0,
};

async function textOf(nodes: readonly object[]): Promise<string> {
  const answers: Readonly<Record<string, unknown>> = { getblockheader: HEADER, getnameproof: { nodes } };
  const context = {
    ask: (method: string) => Promise.resolve(answers[method]),
    parts: ['co'],
    query: new URLSearchParams(),
    tip: { height: 7, hash: HASH, timeSec: 1 },
  };
  const page = (await proof(context as unknown as PageContext)) as PageResult;
  return renderToString(page.body as never);
}

const child = (character: string, nodeHash?: string) => ({
  child: { character, ...(nodeHash !== undefined && { nodeHash }) },
});

describe('the page of a proof', () => {
  it('names the reason if the nodes are out of order, as for long edges of the trie', async () => {
    const unordered = [
      { children: [child('c')] },
      { children: [child('o'), child('d', HASH)] },
      { children: [] },
    ];
    expect(await textOf(unordered)).toContain('The steps of this proof cannot be repeated.');
    const ordered = [
      { children: [child('c'), child('d', HASH)] },
      { children: [child('o')] },
      { children: [] },
    ];
    expect(await textOf(ordered)).not.toContain('cannot be repeated');
  });
});
