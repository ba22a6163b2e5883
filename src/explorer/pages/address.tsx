/** `/address/<address>`: balance, transactions of the chain and the mempool, and unspent outputs with the states of their claims. */
import {
  Amount,
  Coins,
  Block,
  Figures,
  Hash,
  Output,
  Pager,
  Section,
  Table,
  Tag,
  Tx,
} from '../../page/components.js';
import { amountText } from '../../page/format.js';
import { addressLink, withQuery } from '../../page/links.js';
import type { OutputClaim } from '../answers.js';
import type { AskError } from '../explorerRpcClient.js';
import { notFound, searchFor, type Page, type PageContext } from '../pageContext.js';
import { ClaimLine, isMissing, lbcOf, Missing, orNull, type Satoshis } from './parts.js';
import { doubtfulIds, marked, unmadeAmong } from './unmadeClaims.js';

const A_PAGE = 50;

interface Balance {
  readonly balance: Satoshis;
  readonly received: Satoshis;
}
interface Utxo {
  readonly txid: string;
  readonly outputIndex: number;
  readonly satoshis: Satoshis;
  /** Height of its block; -1 in the mempool. */
  readonly height: number;
  readonly claim?: OutputClaim;
}
interface UtxosPage {
  readonly utxos: readonly Utxo[];
  readonly next?: string;
}
interface Transaction {
  readonly txid: string;
  /** Absent for a transaction in the mempool. */
  readonly height?: number;
  readonly received: Satoshis;
  readonly spent: Satoshis;
}
interface TransactionsPage {
  readonly txids: readonly Transaction[];
  readonly next?: string;
}

interface Positions {
  /** Cursors of the pages of transactions (`after`) and of unspent outputs (`coinsAfter`). */
  readonly after: string | undefined;
  readonly coinsAfter: string | undefined;
}

/** Reads the data of the page. A later page of one list does not repeat the other list. */
function read(ask: PageContext['ask'], address: string, { after, coinsAfter }: Positions) {
  const of = { addresses: [address], limit: A_PAGE };
  return Promise.all([
    orNull(ask<Balance>('getaddressbalance', { addresses: [address] })),
    coinsAfter === undefined
      ? orNull(
          ask<TransactionsPage>('getaddresstxids', {
            ...of,
            descending: true,
            mempool: true,
            verbose: true,
            ...(after !== undefined && { after }),
          }),
          after,
        )
      : null,
    after === undefined
      ? orNull(
          ask<UtxosPage>('getaddressutxos', {
            ...of,
            claims: true,
            mempool: true,
            ...(coinsAfter !== undefined && { after: coinsAfter }),
          }),
          coinsAfter,
        )
      : null,
  ]);
}

/** Marks the claims of outputs whose ids no claim has. */
async function withMarks(ask: PageContext['ask'], page: UtxosPage): Promise<UtxosPage> {
  const claims = page.utxos.flatMap(({ claim }) => claim ?? []);
  const unmade = await unmadeAmong(ask, doubtfulIds(claims));
  return {
    ...page,
    utxos: page.utxos.map((utxo) =>
      utxo.claim === undefined ? utxo : { ...utxo, claim: marked([utxo.claim], unmade)[0]! },
    ),
  };
}

/** The block with a height, or a tag for a height of -1. */
const BlockOrWaits = ({ height }: { readonly height: number }) =>
  height < 0 ? <Tag tone="warning">waits</Tag> : <Block height={height} />;

interface TransactionsProps extends Positions {
  readonly page: TransactionsPage | AskError;
  readonly path: string;
}

function Transactions({ page, path, after }: TransactionsProps) {
  if (isMissing(page)) return <Missing error={page} />;
  return (
    <>
      <Table
        caption="Transactions of the address"
        empty="No transaction has this address."
        rows={page.txids}
        columns={[
          { title: 'Transaction', isHead: true, cell: ({ txid }) => <Tx txid={txid} /> },
          {
            title: 'Change',
            unit: 'LBC',
            isNumber: true,
            cell: ({ received, spent }) => <Coins lbc={lbcOf(BigInt(received) - BigInt(spent))} />,
          },
          {
            title: 'Block',
            isNumber: true,
            cell: ({ height }) => <BlockOrWaits height={height ?? -1} />,
          },
        ]}
      />
      <Pager
        next={page.next && withQuery(path, { after: page.next })}
        first={after === undefined ? undefined : path}
      />
    </>
  );
}

interface UnspentProps extends Positions {
  readonly page: UtxosPage | AskError;
  readonly path: string;
}

function Unspent({ page, path, coinsAfter }: UnspentProps) {
  if (isMissing(page)) return <Missing error={page} />;
  return (
    <>
      <Table
        caption="Unspent outputs"
        empty="Nothing is unspent."
        rows={page.utxos}
        columns={[
          {
            title: 'Output',
            isHead: true,
            cell: ({ txid, outputIndex }) => <Output txid={txid} n={outputIndex} />,
          },
          { title: 'Claim', cell: ({ claim }) => (claim === undefined ? '–' : <ClaimLine claim={claim} />) },
          {
            title: 'Amount',
            unit: 'LBC',
            isNumber: true,
            cell: ({ satoshis }) => <Coins lbc={lbcOf(satoshis)} />,
          },
          { title: 'Block', isNumber: true, cell: ({ height }) => <BlockOrWaits height={height} /> },
        ]}
      />
      <Pager
        next={page.next && withQuery(path, { coins: page.next })}
        first={coinsAfter === undefined ? undefined : path}
      />
    </>
  );
}

/** Whether a list has the same error as the balance, so that the page need not show it again. */
const isRepeated = (list: unknown, balance: unknown): boolean =>
  isMissing(list) && isMissing(balance) && list.message === balance.message;

export const address: Page = async ({ ask, parts, query }) => {
  const [wanted = ''] = parts;
  const validity = await ask<{ isvalid: boolean }>('validateaddress', wanted.slice(0, 200));
  if (!validity.isvalid)
    throw notFound(
      'This is not an address',
      'The text is not an address of this network.',
      searchFor(wanted),
    );
  const positions = { after: query.get('after') || undefined, coinsAfter: query.get('coins') || undefined };
  const [balance, transactions, unspent] = await read(ask, wanted, positions);
  const utxos = unspent === null || isMissing(unspent) ? unspent : await withMarks(ask, unspent);
  const path = addressLink(wanted);
  return {
    title: `Address ${wanted.slice(0, 12)}…`,
    description: isMissing(balance)
      ? 'An address.'
      : `An address with ${amountText(lbcOf(balance.balance))} LBC.`,
    topics: ['tip', 'mempool'],
    isLively: true,
    body: (
      <>
        <h1>Address</h1>
        <p>
          <Hash hash={wanted} isWhole />
        </p>
        {isMissing(balance) ? (
          <Missing error={balance} />
        ) : (
          <Figures
            items={[
              ['Balance in blocks', <Amount lbc={lbcOf(balance.balance)} />],
              ['Received in all', <Amount lbc={lbcOf(balance.received)} />],
            ]}
          />
        )}
        {transactions !== null && !isRepeated(transactions, balance) && (
          <Section title="Transactions, the latest first">
            <Transactions page={transactions} path={path} {...positions} />
          </Section>
        )}
        {utxos !== null && !isRepeated(utxos, balance) && (
          <Section title="Unspent outputs">
            <Unspent page={utxos} path={path} {...positions} />
          </Section>
        )}
      </>
    ),
  };
};
