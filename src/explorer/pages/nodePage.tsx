/** `/node`: the health of this node. */
import { Facts, Figures, Notice, Section, Table, Tag } from '../../page/components.js';
import { durationText, integerText, sizeText } from '../../page/format.js';
import { shownLine } from '../../page/text.js';
import type { ChainInfo } from '../answers.js';
import type { Page } from '../pageContext.js';
import { isMissing, orNull } from './parts.js';

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

export const nodePage: Page = async ({ ask, nowSec, showsPeers, tip, network: chainName }) => {
  const [chain, network, peers, totals, indexes, uptime] = await Promise.all([
    ask<ChainInfo>('getblockchaininfo'),
    orNull(ask<NetworkInfo>('getnetworkinfo')),
    orNull(ask<readonly PeerInfo[]>('getpeerinfo')),
    orNull(ask<{ totalbytesrecv: number; totalbytessent: number }>('getnettotals')),
    orNull(ask<Readonly<Record<string, IndexInfo>>>('getindexinfo')),
    orNull(ask<number>('uptime')),
  ]);
  const warnings = [...new Set([chain.warnings, isMissing(network) ? '' : network.warnings])].filter(
    (text) => text !== '',
  );
  return {
    title: 'This node',
    description: 'How the node behind these pages is.',
    topics: ['tip'],
    isLively: true,
    body: (
      <>
        <h1>This node</h1>
        {warnings.map((text) => (
          <Notice tone="warning">{shownLine(text, 1000)}</Notice>
        ))}
        {warnings.length === 0 && <Notice tone="good">Nothing looks wrong.</Notice>}
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
          <Facts
            rows={[
              ['Network', chainName],
              [
                'State',
                chain.initialblockdownload
                  ? `reads the chain, ${(chain.verificationprogress * 100).toFixed(1)} %`
                  : 'in step with the chain',
              ],
              [
                'Pruned',
                chain.pruned ? `yes, blocks from ${integerText(chain.pruneheight ?? 0)} on are kept` : 'no',
              ],
              ['Version', !isMissing(network) && shownLine(network.subversion, 100)],
              ['Received', !isMissing(totals) && sizeText(totals.totalbytesrecv)],
              ['Sent', !isMissing(totals) && sizeText(totals.totalbytessent)],
            ]}
          />
        </Section>
        {!isMissing(indexes) && (
          <Section title="Indexes">
            <Table
              caption="Indexes"
              empty="No index is on."
              rows={Object.entries(indexes)}
              columns={[
                { title: 'Index', isHead: true, cell: ([name]) => name },
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
        )}
        {!isMissing(peers) && (
          <Section title={`Peers (${integerText(peers.length)})`}>
            {!showsPeers && (
              <Notice>
                Addresses of peers are shown to visitors of this machine alone (-explorerpeers=1 shows them to
                all).
              </Notice>
            )}
            <Table
              caption="Peers"
              empty="No peer is connected."
              rows={peers}
              columns={[
                ...(showsPeers
                  ? [{ title: 'Address', isHead: true, cell: ({ addr }: PeerInfo) => <code>{addr}</code> }]
                  : []),
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
                  cell: ({ pingtime }) =>
                    pingtime === undefined ? '–' : `${Math.round(pingtime * 1000)} ms`,
                },
                { title: 'Connected', cell: ({ conntime }) => durationText(Math.max(0, nowSec - conntime)) },
                { title: 'Received', isNumber: true, cell: ({ bytesrecv }) => sizeText(bytesrecv) },
              ]}
            />
          </Section>
        )}
      </>
    ),
  };
};
