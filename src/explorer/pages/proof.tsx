/** `/proof/<name>` and `/proof-hex/<hex>`: a proof that the claim root in a block header commits to the owner of the name. */
import { Block, Facts, Hash, Name, Notice, Section, Table, type TableColumn } from '../../page/components.js';
import { countText, integerText } from '../../page/format.js';
import { nameLink, proofLink, txLink, withQuery } from '../../page/links.js';
import { EMPTY_TRIE, nodeSteps, proofSteps, type ShownProofNode, type ProofPair } from '../../page/proof.js';
import { shownLine, shownName } from '../../page/text.js';
import type { BlockHeaderAnswer, ListClaimsAnswer } from '../answers.js';
import type { VNode } from 'preact';
import { type Page, type PageContext, type PageResult } from '../pageContext.js';
import { AsOf, AsOfForm, blockOf, hexOf, nameOfPath, textOfHex } from './parts.js';

interface ProofAnswer {
  /** Nodes on the path; only in proofs of the old form, for blocks below the all-claims fork. */
  readonly nodes?: readonly ShownProofNode[];
  /** Pairs of hashes; only in proofs for blocks from the all-claims fork on. */
  readonly pairs?: readonly ProofPair[];
  readonly txhash?: string;
  readonly nOut?: number;
  readonly 'last takeover height'?: number;
}

/** Header of the block of the proof: the block of the query, or the tip. */
async function headerOf(context: PageContext): Promise<BlockHeaderAnswer> {
  const block = blockOf(context) ?? context.tip.hash;
  const hash = typeof block === 'number' ? await context.ask<string>('getblockhash', block) : block;
  return context.ask<BlockHeaderAnswer>('getblockheader', hash);
}

/** Form that compares the root of the proof with a root that the visitor has from another node. */
function OwnRoot({ query, root }: { readonly query: URLSearchParams; readonly root: string }): VNode {
  const own = query.get('root')?.trim().toLowerCase() ?? '';
  return (
    <Section title="Compare with a root of your own">
      <p>
        Another node that you trust has the same root for the same block: its <code>getblockheader</code>{' '}
        shows it as <code>nameclaimroot</code>.
      </p>
      <form class="filters" method="get">
        {query.get('block') && <input type="hidden" name="block" value={query.get('block')!} />}
        <label>
          Root
          <input
            class="long"
            type="text"
            name="root"
            value={shownLine(own, 64)}
            maxlength={64}
            spellcheck={false}
          />
        </label>
        <button type="submit">Compare</button>
      </form>
      {own === '' ? null : own === root ? (
        <Notice tone="good">It is the same root.</Notice>
      ) : (
        <Notice tone="warning">It is another root. Is it of the same block?</Notice>
      )}
    </Section>
  );
}

interface StepsProps {
  readonly steps: readonly string[];
  /** Pairs of a proof in the all-claims form; null for a proof of the old form. */
  readonly pairs: readonly ProofPair[] | null;
  readonly nodes: readonly ShownProofNode[];
  readonly hasClaim: boolean;
}

/** Table cell for a step of the proof: the step hashes the claim itself, or the last hash together with a sibling. */
function PairCell({ pair }: { readonly pair: ProofPair | undefined }): VNode {
  return pair === undefined ? (
    <>the claim’s output and takeover height</>
  ) : (
    <code class="hash whole">{pair.hash}</code>
  );
}

function Steps({ steps, pairs, nodes, hasClaim }: StepsProps): VNode {
  const nodeAt = (index: number): ShownProofNode => nodes[nodes.length - 1 - index]!;
  const hasValue = (index: number): boolean =>
    nodeAt(index).valueHash !== undefined || (index === 0 && hasClaim);
  const how: TableColumn<string>[] =
    pairs === null
      ? [
          {
            title: 'Hashed together',
            cell: (_, index) =>
              `${countText(nodeAt(index).children.length, 'child', 'children')}${hasValue(index) ? ' and a value' : ''}`,
          },
        ]
      : [
          {
            title: 'Side',
            isTight: true,
            cell: (_, index) => (index === 0 ? 'claim' : pairs[index - 1]!.odd ? 'left' : 'right'),
          },
          { title: 'Hashed with', cell: (_, index) => <PairCell pair={pairs[index - 1]} /> },
        ];
  return (
    <Section title="Steps">
      <Table
        caption="Steps from the claim to the root"
        empty=""
        rows={steps}
        columns={[
          { title: '#', cell: (_, index) => integerText(index) },
          ...how,
          { title: 'Result', isHead: true, cell: (step) => <code class="hash whole">{step}</code> },
        ]}
      />
    </Section>
  );
}

interface Claim {
  readonly txid: string;
  readonly n: number;
  readonly lastTakeoverHeight: number;
}

/** A proof with its hashes, computed from the winning claim to the root. */
interface Shown {
  /** Bytes of the requested name in hex. */
  readonly nameHex: string;
  readonly header: BlockHeaderAnswer;
  /** The normalized name under which the claim trie stores the name after the block; null if it is the name itself. */
  readonly filed: string | null;
  /** The claim that owns the name; null if there is none. */
  readonly claim: Claim | null;
  /** Pairs of hashes; null in a proof of the old form. */
  readonly pairs: readonly ProofPair[] | null;
  readonly nodes: readonly ShownProofNode[];
  /** Steps of the computation; empty if nothing must be computed. */
  readonly steps: readonly string[];
}

/**
 * Returns the normalized name under which the claim trie stores a name after a block; null if it is the name itself. Names are
 * normalized from the normalization fork on, whose height only the claims of the name show.
 */
async function filedName(
  { ask }: PageContext,
  name: string,
  isHex: boolean,
  blockHash: string,
): Promise<string | null> {
  const text = isHex ? textOfHex(name) : name;
  if (text === null || (await ask<string>('checknormalization', text)) === text) return null;
  const answer = await ask<ListClaimsAnswer>('listclaims', name, 1, null, 'bid', blockHash, isHex);
  return answer.normalized_name === text ? null : answer.normalized_name;
}

async function read(context: PageContext, name: string, isHex: boolean): Promise<Shown> {
  const header = await headerOf(context);
  const [proof, filed] = await Promise.all([
    context.ask<ProofAnswer>('getnameproof', name, header.hash, null, isHex),
    filedName(context, name, isHex, header.hash),
  ]);
  const { txhash, nOut = 0, 'last takeover height': lastTakeoverHeight = 0, pairs = [], nodes = [] } = proof;
  const nameHex = isHex ? name.toLowerCase() : hexOf(name);
  const claim = txhash === undefined ? null : { txid: txhash, n: nOut, lastTakeoverHeight };
  if (claim !== null && pairs.length > 0)
    return { nameHex, header, filed, claim, pairs, nodes, steps: await proofSteps(claim, pairs) };
  return { nameHex, header, filed, claim, pairs: null, nodes, steps: await stepsOfNodes(claim, nodes) };
}

/**
 * Steps of a proof of the old form. Empty if the children of a node are out of order: lbrycrd, and the node like it, lists the
 * siblings that follow the child on the path in the last node of a long edge. Source: `buildNodesProof` of claimtrie/proof.ts.
 */
async function stepsOfNodes(
  claim: Shown['claim'],
  nodes: readonly ShownProofNode[],
): Promise<readonly string[]> {
  try {
    return nodes.length > 0 ? (await nodeSteps(claim, nodes)).steps : [];
  } catch {
    return [];
  }
}

/** Explanation for a proof of the old form whose steps do not lead to the root. */
const Unordered = (): VNode => (
  <Notice tone="warning">
    The steps of this proof cannot be repeated. Proofs for blocks below the all-claims fork have the form of
    lbrycrd, which lists the children of some nodes in the wrong place.
  </Notice>
);

/** Shows under which normalized name the claim trie stores the name, with links to its page and its proof. */
function Filed({ filed, block }: { readonly filed: string; readonly block: string | undefined }): VNode {
  return (
    <Notice>
      The claim trie keeps this name as <Name name={filed} />, its normalized form.{' '}
      <a href={withQuery(proofLink(filed, false), { block })}>Show the proof of the normalized name</a>
    </Notice>
  );
}

/** Shows what the proof proves, and whether the steps lead to the root in the header. */
function Verdict({ nameHex, header, filed, claim, pairs, nodes, steps }: Shown) {
  const root = header.nameclaimroot;
  const unheld = claim === null && (
    <Notice>
      No claim holds {filed === null ? 'this name' : 'the name in this spelling'} after block{' '}
      {integerText(header.height)}; the node’s proof shows that by what is not there.
    </Notice>
  );
  if (steps.length === 0)
    return (
      <>
        {unheld}
        {nodes.length > 0 && <Unordered />}
        {root === EMPTY_TRIE && (
          <Notice tone="good">The root in the header is that of a trie without names.</Notice>
        )}
      </>
    );
  const isRight = steps.at(-1) === root;
  const { hash, version, previousblockhash, merkleroot, nameclaimroot, time, bits, nonce } = header;
  const given = JSON.stringify({
    names: [nameHex, ...(filed === null ? [] : [hexOf(filed)])],
    claim,
    ...(pairs === null ? { nodes } : { pairs }),
    header: { version, previousblockhash, merkleroot, nameclaimroot, time, bits, nonce },
    hash,
  });
  return (
    <>
      {unheld}
      <Notice tone={isRight ? 'good' : 'warning'}>
        {isRight
          ? 'The steps lead to the root in the header.'
          : 'The steps do not lead to the root in the header.'}
      </Notice>
      {!isRight && nodes.length > 0 && <Unordered />}
      {pairs !== null && (
        <p>
          The hashes of this form do not contain the name. They prove that the output of the winning claim
          holds a name; the output itself contains the name.
        </p>
      )}
      <p id="proof-check" data-proof={given} aria-live="polite">
        With scripts on, this browser checks it, too.
      </p>
    </>
  );
}

function ProvenFacts({ header, claim }: Shown) {
  return (
    <Facts
      rows={[
        ['Block', <Block height={header.height} />],
        ['Hash of the block', <Hash hash={header.hash} isWhole />],
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
  );
}

async function page(context: PageContext, isHex: boolean): Promise<PageResult> {
  const { query, tip } = context;
  const name = nameOfPath(context, isHex);
  const proven = await read(context, name, isHex);
  const { header, filed, claim, pairs, nodes, steps } = proven;
  const text = isHex ? textOfHex(name) : name;
  const shown = text === null ? name : shownName(text, 60) || '(empty name)';
  return {
    title: `Proof of ${shown}`,
    description: `Proof of the controlling claim of the name, verified with the header of block ${header.height}.`,
    topics: ['tip'],
    body: (
      <>
        <div class="head">
          <h1>
            Proof of{' '}
            <a href={text === null ? nameLink('', name) : nameLink(text)}>
              <bdi>{shown}</bdi>
            </a>
          </h1>
          <AsOfForm path={proofLink(name, isHex)} shown={query.get('block') ?? ''} />
        </div>
        <AsOf height={header.height} now={tip.height} path={proofLink(name, isHex)} />
        <p>
          The claim trie is a tree of hashes over all names and claims, and each block header contains its
          root. The steps below lead from the winning claim to a root. If it is the root in the header, the
          claim held the name after that block. For a block of your choice enter its hash, as another node
          shows it.
        </p>
        {filed !== null && <Filed filed={filed} block={query.get('block') ?? undefined} />}
        <Verdict {...proven} />
        <Section title="What is proven">
          <ProvenFacts {...proven} />
        </Section>
        {steps.length > 0 && <Steps steps={steps} pairs={pairs} nodes={nodes} hasClaim={claim !== null} />}
        <OwnRoot query={query} root={header.nameclaimroot} />
      </>
    ),
  };
}

/** `/proof/` has no name, so it leads to the list of names. */
export const proof: Page = async (context) =>
  (context.parts[0] ?? '') === '' && context.parts.length < 2 ? { redirect: '/names' } : page(context, false);
export const proofHex: Page = (context) => page(context, true);
