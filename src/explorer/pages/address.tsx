/** `/address/<address>`: balance, history, pending transactions, and unspent outputs with the states of their claims. */
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

const A_PAGE = 50;

interface Balance {
  readonly balance: Satoshis;
  readonly received: Satoshis;
}
interface Utxo {
  readonly txid: string;
  readonly outputIndex: number;
  readonly satoshis: Satoshis;
  readonly height: number;
  readonly claim?: OutputClaim;
}
interface UtxosPage {
  readonly utxos: readonly Utxo[];
  readonly next?: string;
}
interface Move {
  readonly txid: string;
  readonly index: number;
  readonly satoshis: Satoshis;
}
interface MovesPage {
  readonly moves: readonly Move[];
  readonly next?: string;
}
interface TxidsPage {
  readonly txids: readonly (string | { readonly txid: string; readonly height?: number })[];
  readonly next?: string;
}

type Row = { readonly txid: string; readonly height?: number | undefined };

const rowsOf = ({ txids }: TxidsPage): readonly Row[] =>
  txids.map((row) => (typeof row === 'string' ? { txid: row } : row));

interface Positions {
  /** Cursors of the pages of transactions (`after`) and of unspent outputs (`coinsAfter`). */
  readonly after: string | undefined;
  readonly coinsAfter: string | undefined;
}

/** Reads all data of the page. Unspent outputs are read only with the first page of transactions. */
function read(ask: PageContext['ask'], address: string, { after, coinsAfter }: Positions) {
  const of = { addresses: [address] };
  return Promise.all([
    orNull(ask<Balance>('getaddressbalance', of)),
    orNull(
      ask<TxidsPage | string[]>('getaddresstxids', {
        ...of,
        limit: A_PAGE,
        descending: true,
        mempool: true,
        verbose: true,
        ...(after !== undefined && { after }),
      }).then((answer) => (Array.isArray(answer) ? { txids: answer } : answer)),
      after,
    ),
    after === undefined
      ? orNull(
          ask<UtxosPage>('getaddressutxos', {
            ...of,
            limit: A_PAGE,
            claims: true,
            ...(coinsAfter !== undefined && { after: coinsAfter }),
          }),
          coinsAfter,
        )
      : null,
    orNull(ask<MovesPage>('getaddressmempool', { ...of, limit: A_PAGE })),
  ]);
}

/** Sums of the inputs and outputs of each transaction. The last transaction is left out if the page may end within it. */
function changesOf({ moves, next }: MovesPage): { readonly txid: string; readonly satoshis: bigint }[] {
  const sums = new Map<string, bigint>();
  for (const { txid, satoshis } of moves) sums.set(txid, (sums.get(txid) ?? 0n) + BigInt(satoshis));
  const changes = [...sums].map(([txid, satoshis]) => ({ txid, satoshis }));
  return next === undefined || changes.length === 1 ? changes : changes.slice(0, -1);
}

function Waiting({ page }: { readonly page: MovesPage }) {
  const changes = changesOf(page);
  if (changes.length === 0) return null;
  return (
    <Section title="Waiting in the mempool">
      <Table
        caption="What transactions in the mempool pay to the address and spend from it"
        empty=""
        rows={changes}
        columns={[
          { title: 'Transaction', isHead: true, cell: ({ txid }) => <Tx txid={txid} /> },
          {
            title: 'Change',
            unit: 'LBC',
            isNumber: true,
            cell: ({ satoshis }) => <Coins lbc={lbcOf(satoshis)} />,
          },
        ]}
      />
      {page.next !== undefined && <p class="quiet">More transactions of the address wait in the mempool.</p>}
    </Section>
  );
}

interface TransactionsProps extends Positions {
  readonly page: TxidsPage | AskError;
  readonly path: string;
}

function Transactions({ page, path, after }: TransactionsProps) {
  if (isMissing(page)) return <Missing error={page} />;
  return (
    <>
      <Table
        caption="Transactions of the address"
        empty="No transaction has this address."
        rows={rowsOf(page)}
        columns={[
          { title: 'Transaction', isHead: true, cell: ({ txid }) => <Tx txid={txid} /> },
          {
            title: 'Block',
            isNumber: true,
            cell: ({ height = 0 }) =>
              height <= 0 ? <Tag tone="warning">waits</Tag> : <Block height={height} />,
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
          { title: 'Block', isNumber: true, cell: ({ height }) => <Block height={height} /> },
        ]}
      />
      <Pager
        next={page.next && withQuery(path, { coins: page.next })}
        first={coinsAfter === undefined ? undefined : path}
      />
    </>
  );
}

export const address: Page = async ({ ask, parts, query }) => {
  const [wanted = ''] = parts;
  const validity = await ask<{ isvalid: boolean }>('validateaddress', wanted.slice(0, 200));
  if (!validity.isvalid)
    throw notFound(
      'This is not an address',
      'The text is not an address of this network.',
      searchFor(wanted),
    );
  const positions = { after: query.get('after') ?? undefined, coinsAfter: query.get('coins') ?? undefined };
  const [balance, txids, utxos, moves] = await read(ask, wanted, positions);
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
              ['Balance', <Amount lbc={lbcOf(balance.balance)} />],
              ['Received in all', <Amount lbc={lbcOf(balance.received)} />],
            ]}
          />
        )}
        {!isMissing(moves) && <Waiting page={moves} />}
        <Section title="Transactions, the latest first">
          <Transactions page={txids} path={path} {...positions} />
        </Section>
        {utxos !== null && (
          <Section title="Unspent outputs">
            <Unspent page={utxos} path={path} {...positions} />
          </Section>
        )}
      </>
    ),
  };
};
