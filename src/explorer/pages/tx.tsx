/**
 * `/tx/<txid>`: the inputs and outputs of a transaction, the claims that it creates and ends, and the transactions that
 * spend its outputs.
 */
import {
  Address,
  Amount,
  Coins,
  Facts,
  Figures,
  Hash,
  Notice,
  Output,
  Pager,
  Section,
  Table,
  Tag,
  UtcTime,
} from '../../page/components.js';
import { integerText, sizeText } from '../../page/format.js';
import { blockLink, txLink, withQuery } from '../../page/links.js';
import { purchasedClaim } from '../../metadata/purchase.js';
import type { BlockHeaderAnswer, TxInfoAnswer, TxInput, TxOutput } from '../answers.js';
import { AskError } from '../explorerRpcClient.js';
import { isFilling, pageErrorOf } from '../nodeErrors.js';
import { integerOf, notFound, PageError, searchFor, type Page, type PageContext } from '../pageContext.js';
import { ClaimLine, ClaimRef, GENESIS_TRANSACTION, unknownObject, WITHOUT_TXINDEX } from './parts.js';
import { doubtfulIds, marked, unmadeAmong } from './unmadeClaims.js';

const A_PAGE = 100;

function InputCell({ input }: { readonly input: TxInput }) {
  if (input.coinbase !== undefined)
    return (
      <>
        new coins for the miner of the block, with the data{' '}
        <code class="hash">{input.coinbase.slice(0, 200)}</code>
      </>
    );
  return (
    <>
      {input.txid !== undefined && <Output txid={input.txid} n={input.vout ?? 0} />}
      {input.claim && (
        <div>
          <ClaimLine claim={input.claim} isSpent />
        </div>
      )}
      {input.address && (
        <div>
          <Address address={input.address} />
        </div>
      )}
    </>
  );
}

/** An output with the claim that its data records as bought. */
interface ShownOutput extends TxOutput {
  readonly purchased?: { readonly id: string; readonly isUnmade: boolean } | undefined;
}

/** A transaction whose references to claims are marked if no claim has the id. */
interface ShownTx extends TxInfoAnswer {
  readonly outputs: readonly ShownOutput[];
}

const purchasedOf = ({ type, script }: TxOutput): string | undefined =>
  type === 'nulldata' ? purchasedClaim(Buffer.from(script, 'hex')) : undefined;

/** Marks the references to claims whose ids no claim has. */
async function withMarks(ask: PageContext['ask'], info: TxInfoAnswer): Promise<ShownTx> {
  const claims = [...info.inputs, ...info.outputs].flatMap(({ claim }) => claim ?? []);
  const bought = info.outputs.map(purchasedOf);
  const unmade = await unmadeAmong(ask, [...doubtfulIds(claims), ...bought]);
  const markedIn = <Part extends TxInput | TxOutput>(part: Part): Part =>
    part.claim === undefined ? part : { ...part, claim: marked([part.claim], unmade)[0]! };
  return {
    ...info,
    inputs: info.inputs.map(markedIn),
    outputs: info.outputs.map((output, index) => {
      const id = bought[index];
      return {
        ...markedIn(output),
        purchased: id === undefined ? undefined : { id, isUnmade: unmade.has(id) },
      };
    }),
  };
}

function OutputCell({ output }: { readonly output: ShownOutput }) {
  const { purchased } = output;
  return (
    <>
      {output.claim && (
        <div>
          <ClaimLine claim={output.claim} />
        </div>
      )}
      {purchased !== undefined && (
        <div>
          buys the claim <ClaimRef {...purchased} />
        </div>
      )}
      {output.address ? <Address address={output.address} /> : <Tag>{output.type}</Tag>}
    </>
  );
}

function Spent({ output, hasIndex }: { readonly output: TxOutput; readonly hasIndex: boolean }) {
  if (output.type === 'nulldata') return <>–</>;
  if (!output.spent) return <Tag tone="good">unspent</Tag>;
  const by = output.spentBy;
  if (by === undefined)
    return (
      <span title={hasIndex ? undefined : 'With -spendindex the node shows the transaction that spent it'}>
        spent
      </span>
    );
  return (
    <>
      spent by <Hash hash={by.txid} href={txLink(by.txid)} />
      {by.height === undefined ? ' (waits)' : ''}
    </>
  );
}

function Inputs({ inputs, inputcount }: TxInfoAnswer) {
  return (
    <Section title={`Inputs (${integerText(inputcount)})`} id="inputs">
      <Table
        caption="Inputs"
        empty="No further input."
        rows={inputs}
        columns={[
          { title: '#', cell: ({ n }) => integerText(n) },
          { title: 'From', isHead: true, cell: (input) => <InputCell input={input} /> },
          {
            title: 'Amount',
            unit: 'LBC',
            isNumber: true,
            cell: ({ amount }) => (amount === undefined ? '–' : <Coins lbc={amount} />),
          },
        ]}
      />
    </Section>
  );
}

function Outputs({ outputs, outputcount, spendindex }: ShownTx) {
  return (
    <Section title={`Outputs (${integerText(outputcount)})`} id="outputs">
      <Table
        caption="Outputs"
        empty="No further output."
        rows={outputs}
        idOf={({ n }) => `out-${n}`}
        columns={[
          { title: '#', cell: ({ n }) => integerText(n) },
          { title: 'To', isHead: true, cell: (output) => <OutputCell output={output} /> },
          { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
          { title: 'State', cell: (output) => <Spent output={output} hasIndex={spendindex} /> },
        ]}
      />
    </Section>
  );
}

/** Links to calls of the console: the whole transaction, and the proof that its block contains it. */
function ConsoleLinks({ txid, state }: TxInfoAnswer) {
  const run = (method: string, ...params: readonly string[]): string =>
    withQuery('/console', {
      method,
      run: 1,
      ...Object.fromEntries(params.map((text, n) => [`p${n}`, text])),
    });
  return (
    <>
      <a href={run('getrawtransaction', txid, 'true')}>whole transaction</a>
      {state === 'chain' && (
        <>
          , <a href={run('gettxoutproof', JSON.stringify([txid]))}>proof that its block contains it</a>
        </>
      )}
    </>
  );
}

function Details(info: TxInfoAnswer) {
  return (
    <Section title="Details">
      <Facts
        rows={[
          ['Block', info.blockhash && <Hash hash={info.blockhash} href={blockLink(info.blockhash)} />],
          ['Place in the block', info.position !== undefined && integerText(info.position)],
          ['Time', info.time !== undefined && <UtcTime sec={info.time} />],
          ['Amount in', info.amountin !== undefined && <Amount lbc={info.amountin} />],
          ['Amount out', <Amount lbc={info.amountout} />],
          ['Virtual size', `${integerText(info.vsize)} vB`],
          ['Weight', integerText(info.weight)],
          ['Version', integerText(info.version)],
          ['Lock time', integerText(info.locktime)],
          ['Hash with witness', info.hash !== info.txid && <Hash hash={info.hash} />],
          ['In the console', <ConsoleLinks {...info} />],
        ]}
      />
    </Section>
  );
}

function State({ state }: TxInfoAnswer) {
  if (state === 'mempool') return <Notice>It waits in the mempool for a block.</Notice>;
  if (state !== 'stale') return null;
  return <Notice tone="warning">Its block is no longer in the chain, and no other block has it.</Notice>;
}

/** Links to the block of a transaction by its hash, because another block may have its height. */
function BlockOf({ height, blockhash }: TxInfoAnswer) {
  if (height === undefined || blockhash === undefined) return <>none yet</>;
  return <a href={blockLink(blockhash)}>{integerText(height)}</a>;
}

/** Whether a transaction is that of the genesis block, whose id is the Merkle root of the block. */
async function isOfGenesis(ask: PageContext['ask'], txid: string): Promise<boolean> {
  const hash = await ask<string>('getblockhash', 0);
  return (await ask<BlockHeaderAnswer>('getblockheader', hash)).merkleroot === txid;
}

async function read(context: PageContext, txid: string, from: number): Promise<TxInfoAnswer> {
  const { ask, lacking } = context;
  try {
    return await ask<TxInfoAnswer>('gettxinfo', txid, from, A_PAGE);
  } catch (error) {
    if (!(error instanceof AskError) || error.code !== -5 || isFilling(error)) throw error;
    if (await isOfGenesis(ask, txid))
      throw notFound('This is the transaction of the genesis block', GENESIS_TRANSACTION, [
        [blockLink(0), 'The genesis block'],
      ]);
    if (lacking.includes('txindex'))
      throw new PageError(501, 'The node does not find this transaction', WITHOUT_TXINDEX);
    throw unknownObject(context, 'transaction', {
      title: 'There is no such transaction',
      message: pageErrorOf(error).message,
      near: searchFor(txid),
    });
  }
}

export const tx: Page = async (context) => {
  const { parts, query } = context;
  const [wanted = ''] = parts;
  if (!/^[0-9a-f]{64}$/i.test(wanted))
    throw notFound(
      'This is not a transaction id',
      'A transaction is identified by 64 hexadecimal digits.',
      searchFor(wanted),
    );
  const txid = wanted.toLowerCase();
  const from = integerOf(query, 'from') ?? 0;
  const info = await withMarks(context.ask, await read(context, txid, from));
  const path = txLink(txid);
  return {
    title: `Transaction ${txid.slice(0, 12)}…`,
    description:
      info.state === 'chain'
        ? `In block ${info.height}, ${info.inputcount} inputs, ${info.outputcount} outputs.`
        : 'An unconfirmed transaction.',
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <h1>Transaction</h1>
        <p>
          <Hash hash={txid} isWhole />
        </p>
        <State {...info} />
        <Figures
          items={[
            ['Block', <BlockOf {...info} />],
            ['Confirmations', integerText(info.confirmations)],
            ['Fee', info.fee === undefined ? '–' : <Amount lbc={info.fee} />],
            ['Fee rate', info.feerate === undefined ? '–' : `${(info.feerate * 1e5).toFixed(1)} sat/vB`],
            ['Size', sizeText(info.size)],
          ]}
        />
        <div class="columns">
          <Inputs {...info} />
          <Outputs {...info} />
        </div>
        <Pager
          next={info.next === undefined ? undefined : withQuery(path, { from: info.next })}
          first={from === 0 ? undefined : path}
        />
        <Details {...info} />
      </>
    ),
  };
};
