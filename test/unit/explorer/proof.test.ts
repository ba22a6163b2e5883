import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import type { PageContext, PageResult } from '../../../src/explorer/pageContext.js';
import { nodeSteps } from '../../../src/page/proof.js';
import { proof, proofHex } from '../../../src/explorer/pages/proof.js';

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

interface Case {
  readonly isHex?: boolean;
  readonly name?: string;
  /** Normalized form of the name, and the name under which the trie stores it after the block. */
  readonly normalized?: string;
  readonly filed?: string;
  readonly root?: string;
}

async function textOf(
  nodes: readonly object[],
  { isHex = false, name = 'co', normalized, filed, root = HASH }: Case = {},
): Promise<string> {
  const answers: Readonly<Record<string, unknown>> = {
    getblockheader: { ...HEADER, nameclaimroot: root },
    getnameproof: { nodes },
    checknormalization: normalized ?? name,
    listclaims: { normalized_name: filed ?? name },
  };
  const context = {
    ask: (method: string) => Promise.resolve(answers[method]),
    parts: [isHex ? Buffer.from(name).toString('hex') : name],
    query: new URLSearchParams(),
    tip: { height: 7, hash: HASH, timeSec: 1 },
  };
  const page = (await (isHex ? proofHex : proof)(context as unknown as PageContext)) as PageResult;
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
    expect(await textOf(ordered)).toContain('The steps do not lead to the root in the header.');
    expect(await textOf(ordered)).toContain('cannot be repeated');
  });

  it('gives no such reason if the steps lead to the root', async () => {
    const { steps } = await nodeSteps(null, [{ children: [child('d', HASH)] }]);
    const text = await textOf([{ children: [child('d', HASH)] }], { root: steps.at(-1)! });
    expect(text).toContain('The steps lead to the root in the header.');
    expect(text).not.toContain('cannot be repeated');
  });

  it('names the normalized name under which the trie keeps the name, from the normalization fork on', async () => {
    const spelled = { name: 'CO', normalized: 'co' };
    const text = await textOf([], { ...spelled, filed: 'co' });
    expect(text).toContain('The claim trie keeps this name as');
    expect(text).toContain('href="/proof/co"');
    expect(text).toContain('No claim holds the name in this spelling');
    expect(await textOf([], { ...spelled, filed: 'CO' })).not.toContain('keeps this name as');
    expect(await textOf([])).not.toContain('keeps this name as');
  });

  it('shows the text of a name in hex', async () => {
    const text = await textOf([], { isHex: true, name: '.' });
    expect(text).toContain('<a href="/name-hex/2e"><bdi>.</bdi></a>');
    expect(await textOf([], { isHex: true, name: 'co' })).toContain('<a href="/name/co"><bdi>co</bdi></a>');
  });
});
