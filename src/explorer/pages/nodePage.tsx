/** `/node`: the state of this node. */
import type { ComponentChildren } from 'preact';
import { Facts, Figures, Notice, Section, Table, Tag, type TableColumn } from '../../page/components.js';
import { durationText } from '../../page/age.js';
import { integerText, sizeText } from '../../page/format.js';
import { shownLine } from '../../page/text.js';
import type { ChainInfo } from '../answers.js';
import type { Page, PageContext } from '../pageContext.js';
import { syncShare } from '../frameParts.js';
import { isMissing, orNull, type OrError } from './parts.js';

interface NetworkInfo {
  readonly subversion: string;
  readonly protocolversion: number;
  readonly connections: number;
  readonly warnings: string;
  readonly networks: readonly { readonly name: string; readonly reachable: boolean }[];
}
interface PeerInfo {
  readonly id: number;
  readonly addr: string;
  readonly inbound: boolean;
  readonly subver: string;
  readonly version: number;
  readonly pingtime?: number;
  readonly synced_blocks: number;
  readonly conntime: number;
  readonly bytessent: number;
  readonly bytesrecv: number;
}
interface IndexInfo {
  readonly synced: boolean;
  readonly best_block_height: number;
}

interface ClaimIndexInfo {
  readonly search?: {
    readonly synced: boolean;
    readonly height: number;
    readonly documents: number;
    readonly failure?: string;
    readonly backend: string;
  };
}
interface HubInfo {
  readonly listening: boolean;
  readonly failure?: string;
  readonly height: number;
  readonly sessions: number;
  readonly max_sessions: number;
}
interface Totals {
  readonly totalbytesrecv: number;
  readonly totalbytessent: number;
}

interface Shown {
  readonly chain: ChainInfo;
  readonly network: OrError<NetworkInfo>;
  readonly peers: OrError<readonly PeerInfo[]>;
  readonly totals: OrError<Totals>;
  readonly indexes: OrError<Readonly<Record<string, IndexInfo>>>;
  readonly uptime: OrError<number>;
  readonly claimIndex: OrError<ClaimIndexInfo>;
  readonly hub: OrError<HubInfo>;
}

async function read({ ask }: PageContext): Promise<Shown> {
  const [chain, network, peers, totals, indexes, uptime, claimIndex, hub] = await Promise.all([
    ask<ChainInfo>('getblockchaininfo'),
    orNull(ask<NetworkInfo>('getnetworkinfo')),
    orNull(ask<readonly PeerInfo[]>('getpeerinfo')),
    orNull(ask<Totals>('getnettotals')),
    orNull(ask<Readonly<Record<string, IndexInfo>>>('getindexinfo')),
    orNull(ask<number>('uptime')),
    orNull(ask<ClaimIndexInfo>('getclaimindexinfo')),
    orNull(ask<HubInfo>('gethubinfo')),
  ]);
  return { chain, network, peers, totals, indexes, uptime, claimIndex, hub };
}

/** Warnings of the node, which may contain paths of its machine. Visitors from other machines see only whether there are any. */
function Warnings({ chain, network, showsPeers }: Shown & Pick<PageContext, 'showsPeers'>) {
  const texts = [chain.warnings, isMissing(network) ? '' : network.warnings].filter((text) => text !== '');
  if (texts.length === 0) return <Notice tone="good">No warnings.</Notice>;
  if (!showsPeers)
    return <Notice tone="warning">The node has warnings. Visitors on its machine see them here.</Notice>;
  return (
    <>
      {[...new Set(texts)].map((text) => (
        <Notice tone="warning">{shownLine(text, 1000)}</Notice>
      ))}
    </>
  );
}

interface ChainFactsProps extends Shown {
  readonly chainName: string;
  readonly isSyncing: boolean;
}

function ChainFacts({ chain, network, totals, chainName, isSyncing }: ChainFactsProps) {
  return (
    <Facts
      rows={[
        ['Network', chainName],
        [
          'State',
          isSyncing
            ? `synchronizing, ${syncShare(chain.blocks, chain.headers).toFixed(1)} %`
            : chain.blocks === 0
              ? 'only the genesis block'
              : 'synchronized',
        ],
        [
          'Pruned',
          chain.pruned ? `yes, blocks from ${integerText(chain.pruneheight ?? 0)} on are kept` : 'no',
        ],
        [
          'Networks of peers',
          !isMissing(network) &&
            (network.networks
              .filter(({ reachable }) => reachable)
              .map(({ name }) => name)
              .join(', ') ||
              'none'),
        ],
        ['Version', !isMissing(network) && shownLine(network.subversion, 100)],
        ['Received', !isMissing(totals) && sizeText(totals.totalbytesrecv)],
        ['Sent', !isMissing(totals) && sizeText(totals.totalbytessent)],
      ]}
    />
  );
}

/** Shows the state of the claim search and the hub, if they are enabled. */
function Services({ claimIndex, hub, showsPeers }: Shown & Pick<PageContext, 'showsPeers'>) {
  const causeOf = (failure: string | undefined): string | undefined =>
    failure &&
    (showsPeers ? shownLine(failure, 300) : 'because of an error; the log of the node has the reason');
  const search = isMissing(claimIndex) ? undefined : claimIndex.search;
  const rows: [string, ComponentChildren][] = [
    ['Claims in the search index', search && integerText(search.documents)],
    ['Search', search && (search.synced ? 'complete' : `up to block ${integerText(search.height)}`)],
    ['Stored in', search && shownLine(search.backend, 60)],
    ['Search stopped', causeOf(search?.failure)],
  ];
  if (!isMissing(hub))
    rows.push(
      ['Hub', hub.listening ? `serves up to block ${integerText(hub.height)}` : 'accepts no clients now'],
      ['Clients of the hub', `${integerText(hub.sessions)} of ${integerText(hub.max_sessions)}`],
      ['Hub stopped', causeOf(hub.failure)],
    );
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  if (shown.length === 0) return null;
  return (
    <Section title="Services">
      <Facts rows={shown} />
    </Section>
  );
}

/** Data that each index finds. */
const FINDS: Readonly<Record<string, string>> = {
  txindex: 'transactions by id',
  spendindex: 'the transaction that spent an output',
  addressindex: 'transactions and balance of an address',
  claimindex: 'claims by id and by channel',
  blockfilterindex: 'filters of blocks for light wallets',
};

function Indexes({ indexes }: Shown) {
  if (isMissing(indexes)) return null;
  return (
    <Section title="Indexes">
      <Table
        caption="Indexes"
        empty="No index is on."
        rows={Object.entries(indexes)}
        columns={[
          { title: 'Index', isHead: true, cell: ([name]) => name },
          { title: 'Finds', cell: ([name]) => FINDS[name] ?? '–' },
          {
            title: 'State',
            cell: ([, { synced }]) =>
              synced ? <Tag tone="good">complete</Tag> : <Tag tone="warning">is being filled</Tag>,
          },
          {
            title: 'Up to block',
            isNumber: true,
            cell: ([, { best_block_height: height }]) => integerText(height),
          },
        ]}
      />
    </Section>
  );
}

const peerColumns = (nowSec: number): readonly TableColumn<PeerInfo>[] => [
  { title: 'Program', cell: ({ subver }) => <bdi>{shownLine(subver, 80)}</bdi> },
  { title: 'Direction', cell: ({ inbound }) => (inbound ? 'in' : 'out') },
  {
    title: 'Height',
    isNumber: true,
    cell: ({ synced_blocks: height }) => (height < 0 ? '–' : integerText(height)),
  },
  {
    title: 'Ping',
    isNumber: true,
    cell: ({ pingtime }) => (pingtime === undefined ? '–' : `${Math.round(pingtime * 1000)} ms`),
  },
  { title: 'Connected', cell: ({ conntime }) => durationText(Math.max(0, nowSec - conntime)) },
  { title: 'Received', isNumber: true, cell: ({ bytesrecv }) => sizeText(bytesrecv) },
];

const ADDRESS: TableColumn<PeerInfo> = {
  title: 'Address',
  isHead: true,
  cell: ({ addr }) => <code>{addr}</code>,
};

function Peers({
  peers,
  showsPeers,
  nowSec,
}: Pick<PageContext, 'showsPeers' | 'nowSec'> & Pick<Shown, 'peers'>) {
  if (isMissing(peers)) return null;
  const columns = peerColumns(nowSec);
  return (
    <Section title={`Peers (${integerText(peers.length)})`}>
      {!showsPeers && (
        <Notice>
          Addresses of peers are shown only to visitors on the machine of the node (-explorerpeers=1 shows
          them to all).
        </Notice>
      )}
      <Table
        caption="Peers"
        empty="No peer is connected."
        rows={peers}
        columns={showsPeers ? [ADDRESS, ...columns] : columns}
      />
    </Section>
  );
}

export const nodePage: Page = async (context) => {
  const { tip, network: chainName, showsPeers, nowSec } = context;
  const shown = await read(context);
  const { chain, network, uptime, peers } = shown;
  return {
    title: 'This node',
    description: 'How the node behind these pages is.',
    topics: ['tip'],
    isLively: true,
    body: (
      <>
        <h1>This node</h1>
        <Warnings {...shown} showsPeers={showsPeers} />
        <Figures
          items={[
            ['Height', integerText(tip.height)],
            ['Best header', integerText(chain.headers)],
            ['Peers', isMissing(network) ? '–' : integerText(network.connections)],
            ['Runs for', isMissing(uptime) ? '–' : durationText(uptime)],
            ['Blocks on disk', sizeText(chain.size_on_disk)],
          ]}
        />
        <Section title="Chain">
          <ChainFacts {...shown} chainName={chainName} isSyncing={context.isSyncing} />
        </Section>
        <Indexes {...shown} />
        <Services {...shown} showsPeers={showsPeers} />
        <Peers peers={peers} showsPeers={showsPeers} nowSec={nowSec} />
      </>
    ),
  };
};
