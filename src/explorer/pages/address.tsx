/** `/address/<address>`: balance, history and what waits. */
import {
  Amount,
  Block,
  Figures,
  Hash,
  Notice,
  Pager,
  Section,
  Table,
  Tag,
  Tx,
} from '../../page/components.js';
import { integerText } from '../../page/format.js';
import { addressLink, txLink, withQuery } from '../../page/links.js';
import { notFound, type Page } from '../pageContext.js';
import { isMissing, Missing, orNull } from './parts.js';

const A_PAGE = 50;
const SATOSHIS = 1e8;

interface Balance {
  readonly balance: number;
  readonly received: number;
}
interface Utxo {
  readonly txid: string;
  readonly outputIndex: number;
  readonly satoshis: number;
  readonly height: number;
}
interface TxidsPage {
  readonly txids: readonly (string | { readonly txid: string; readonly height?: number })[];
  readonly next?: string;
}

const lbc = (satoshis: number): number => satoshis / SATOSHIS;

export const address: Page = async ({ ask, parts, query }) => {
  const [wanted = ''] = parts;
  const validity = await ask<{ isvalid: boolean }>('validateaddress', wanted.slice(0, 200));
  if (!validity.isvalid)
    throw notFound('This is not an address', 'The text is not an address of this network.', [
      [withQuery('/find', { q: wanted.slice(0, 200) }), 'Search for it'],
    ]);
  const after = query.get('after') ?? undefined;
  const of = { addresses: [wanted] };
  const [balance, txids, utxos] = await Promise.all([
    orNull(ask<Balance>('getaddressbalance', of)),
    orNull(
      ask<TxidsPage | string[]>('getaddresstxids', {
        ...of,
        limit: A_PAGE,
        descending: true,
        mempool: true,
        verbose: true,
        after: after ?? '',
      }),
    ),
    after === undefined
      ? orNull(ask<Utxo[] | { utxos: Utxo[] }>('getaddressutxos', { ...of, limit: A_PAGE, after: '' }))
      : null,
  ]);
  const path = addressLink(wanted);
  const rows = isMissing(txids)
    ? []
    : (Array.isArray(txids) ? txids : txids.txids).map((row) =>
        typeof row === 'string' ? { txid: row, height: undefined } : row,
      );
  const coins = utxos === null || isMissing(utxos) ? [] : Array.isArray(utxos) ? utxos : utxos.utxos;
  return {
    title: `Address ${wanted.slice(0, 12)}…`,
    description: isMissing(balance) ? 'An address.' : `An address with ${lbc(balance.balance)} LBC.`,
    topics: [`address:${wanted}`, 'tip'],
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
              ['Balance', <Amount lbc={lbc(balance.balance)} />],
              ['Received in all', <Amount lbc={lbc(balance.received)} />],
            ]}
          />
        )}
        <Section title="Transactions, the latest first">
          {isMissing(txids) ? (
            <Missing error={txids} />
          ) : (
            <>
              <Table
                caption="Transactions of the address"
                empty="No transaction has this address."
                rows={rows}
                columns={[
                  { title: 'Transaction', isHead: true, cell: ({ txid }) => <Tx txid={txid} /> },
                  {
                    title: 'Block',
                    isNumber: true,
                    cell: ({ height }) =>
                      height === undefined || height <= 0 ? (
                        <Tag tone="warning">waits</Tag>
                      ) : (
                        <Block height={height} />
                      ),
                  },
                ]}
              />
              <Pager
                next={
                  Array.isArray(txids) || txids.next === undefined
                    ? undefined
                    : withQuery(path, { after: txids.next })
                }
                first={after === undefined ? undefined : path}
              />
            </>
          )}
        </Section>
        {utxos !== null && (
          <Section title="Unspent outputs">
            {isMissing(utxos) ? (
              <Missing error={utxos} />
            ) : (
              <>
                <Table
                  caption="Unspent outputs"
                  empty="Nothing is unspent."
                  rows={coins}
                  columns={[
                    {
                      title: 'Output',
                      isHead: true,
                      cell: ({ txid, outputIndex }) => (
                        <a href={txLink(txid, outputIndex)}>
                          <code>
                            {txid.slice(0, 12)}…:{outputIndex}
                          </code>
                        </a>
                      ),
                    },
                    {
                      title: 'Amount',
                      isNumber: true,
                      cell: ({ satoshis }) => <Amount lbc={lbc(satoshis)} />,
                    },
                    { title: 'Block', isNumber: true, cell: ({ height }) => <Block height={height} /> },
                  ]}
                />
                {coins.length === A_PAGE && <Notice>These are the first {integerText(A_PAGE)}.</Notice>}
              </>
            )}
          </Section>
        )}
      </>
    ),
  };
};
