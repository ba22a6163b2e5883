/** `/names?prefix=`: the names that begin with a prefix. */
import { Coins, Block, ClaimId, Pager, Section, Table } from '../../page/components.js';
import { integerText, type Lbc } from '../../page/format.js';
import { withQuery } from '../../page/links.js';
import { shownName } from '../../page/text.js';
import type { NamePieces } from '../answers.js';
import type { Page } from '../pageContext.js';
import { AsOf, AsOfForm, blockOf, NameOf } from './parts.js';

const A_PAGE = 100;

interface ListNamesAnswer {
  readonly height: number;
  readonly blockhash: string;
  readonly names: readonly (NamePieces & {
    readonly claims: number;
    readonly claimId: string;
    readonly amount: Lbc;
    readonly effectiveAmount: Lbc;
    readonly lastTakeoverHeight: number;
  })[];
  readonly next?: string;
}

function Head({ prefix, block }: { readonly prefix: string; readonly block: string }) {
  return (
    <div class="head">
      <h1>
        {prefix === '' ? (
          'Names'
        ) : (
          <>
            Names that begin with <bdi>{shownName(prefix, 60)}</bdi>
          </>
        )}
      </h1>
      <AsOfForm path="/names" shown={block} kept={{ prefix }} />
    </div>
  );
}

export const names: Page = async (context) => {
  const { ask, query, tip } = context;
  const prefix = query.get('prefix') ?? '';
  const after = query.get('after') ?? '';
  const block = blockOf(context);
  const answer = await ask<ListNamesAnswer>(
    'listnames',
    prefix,
    A_PAGE,
    after === '' ? null : after,
    block ?? null,
  );
  const path = withQuery('/names', { prefix, block: query.get('block') ?? undefined });
  return {
    title: prefix === '' ? 'Names' : `Names that begin with ${shownName(prefix, 40)}`,
    description: `Names with active claims as of block ${answer.height}.`,
    topics: ['tip'],
    searched: prefix,
    body: (
      <>
        <Head prefix={prefix} block={query.get('block') ?? ''} />
        <AsOf height={answer.height} now={tip.height} path={withQuery('/names', { prefix })} />
        <form class="search" action="/names" method="get">
          {query.get('block') && <input type="hidden" name="block" value={query.get('block')!} />}
          <label class="unseen" for="prefix">
            Names begin with
          </label>
          <input
            id="prefix"
            type="text"
            name="prefix"
            value={prefix}
            maxlength={255}
            placeholder="Names begin with"
          />
          <button type="submit">Show</button>
        </form>
        <Section title="Sorted by name">
          <Table
            caption="Names"
            empty={
              prefix === '' ? 'No name has an active claim.' : 'No name that begins so has an active claim.'
            }
            rows={answer.names}
            columns={[
              { title: 'Name', isHead: true, cell: (name) => <NameOf of={name} /> },
              { title: 'Held by', cell: ({ claimId }) => <ClaimId id={claimId} /> },
              {
                title: 'Effective',
                unit: 'LBC',
                isNumber: true,
                cell: ({ effectiveAmount }) => <Coins lbc={effectiveAmount} />,
              },
              { title: 'Active claims', isNumber: true, cell: ({ claims }) => integerText(claims) },
              {
                title: 'Since block',
                isNumber: true,
                cell: ({ lastTakeoverHeight }) => <Block height={lastTakeoverHeight} />,
              },
            ]}
          />
          <Pager
            next={
              answer.next === undefined
                ? undefined
                : withQuery('/names', { prefix, after: answer.next, block: answer.blockhash })
            }
            first={after === '' ? undefined : path}
          />
        </Section>
      </>
    ),
  };
};
