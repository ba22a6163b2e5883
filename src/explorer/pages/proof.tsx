/** `/proof/<name>` and `/proof-hex/<hex>`: whether the block header says who holds the name. */
import { Block, Facts, Hash, Notice, Section, Table } from '../../page/components.js';
import { integerText } from '../../page/format.js';
import { nameLink, txLink } from '../../page/links.js';
import { proofSteps, type ProofPair } from '../../page/proof.js';
import { shownLine } from '../../page/text.js';
import type { BlockHeaderAnswer } from '../answers.js';
import { badRequest, type Page, type PageContext } from '../pageContext.js';

interface ProofAnswer {
  readonly nodes?: readonly unknown[];
  readonly pairs?: readonly ProofPair[];
  readonly txhash?: string;
  readonly nOut?: number;
  readonly 'last takeover height'?: number;
}

async function page({ ask, parts, tip }: PageContext, isHex: boolean) {
  const [name = ''] = parts;
  if (isHex && !/^([0-9a-f]{2})+$/i.test(name))
    throw badRequest('The bytes of a name are given as pairs of hexadecimal digits.');
  const [header, proof] = await Promise.all([
    ask<BlockHeaderAnswer>('getblockheader', tip.hash),
    ask<ProofAnswer>('getnameproof', name, tip.hash, null, isHex),
  ]);
  const claim =
    proof.txhash === undefined
      ? null
      : { txid: proof.txhash, n: proof.nOut ?? 0, lastTakeoverHeight: proof['last takeover height'] ?? 0 };
  const pairs = proof.pairs ?? [];
  const canCheck = claim !== null && pairs.length > 0;
  const steps = canCheck ? await proofSteps(claim, pairs) : [];
  const isRight = canCheck && steps.at(-1) === header.nameclaimroot;
  const given = canCheck ? JSON.stringify({ claim, pairs, root: header.nameclaimroot }) : undefined;
  const shown = isHex ? name : shownLine(name, 60);
  return {
    title: `Proof of ${shown}`,
    description: `Who holds the name, held against the header of block ${tip.height}.`,
    topics: ['tip'],
    body: (
      <>
        <h1>
          Proof of{' '}
          <a href={isHex ? nameLink('', name) : nameLink(name)}>
            <bdi>{shown}</bdi>
          </a>
        </h1>
        <p>
          Each block header holds the root of the claim trie. The steps below lead from the winning claim to a
          root: when it is that of the header, the claim held the name after that block.
        </p>
        {claim === null && (
          <Notice>
            No claim holds this name after block {integerText(tip.height)}; the node’s proof shows that by
            what is not there.
          </Notice>
        )}
        {claim !== null && !canCheck && (
          <Notice>
            This proof has the form that blocks below the fork for all claims have. This page does not check
            it.
          </Notice>
        )}
        {canCheck && (
          <Notice tone={isRight ? 'good' : 'warning'}>
            {isRight
              ? 'The steps lead to the root in the header.'
              : 'The steps do not lead to the root in the header.'}
          </Notice>
        )}
        {canCheck && (
          <p id="proof-check" data-proof={given} aria-live="polite">
            With scripts on, this browser checks it, too.
          </p>
        )}
        <Section title="What is proven">
          <Facts
            rows={[
              ['Block', <Block height={tip.height} />],
              ['Root in its header', <Hash hash={header.nameclaimroot} isWhole />],
              [
                'Winning claim',
                claim && (
                  <a href={txLink(claim.txid, claim.n)}>
                    {claim.txid.slice(0, 12)}…:{claim.n}
                  </a>
                ),
              ],
              ['Last takeover', claim && <Block height={claim.lastTakeoverHeight} />],
            ]}
          />
        </Section>
        {canCheck && (
          <Section title="Steps">
            <Table
              caption="Steps from the claim to the root"
              empty=""
              rows={steps}
              columns={[
                { title: '#', cell: (_, index) => integerText(index) },
                {
                  title: 'Mixed in',
                  cell: (_, index) =>
                    index === 0 ? (
                      'the claim’s output and takeover height'
                    ) : (
                      <>
                        <code class="hash">{pairs[index - 1]!.hash}</code> on the{' '}
                        {pairs[index - 1]!.odd ? 'left' : 'right'}
                      </>
                    ),
                },
                { title: 'Result', isHead: true, cell: (step) => <code class="hash">{step}</code> },
              ]}
            />
          </Section>
        )}
      </>
    ),
  };
}

export const proof: Page = (context) => page(context, false);
export const proofHex: Page = (context) => page(context, true);
