/** Table of the history of a claim, the latest first: its end, its updates and its creation. */
import { Address, Coins, Block, Output, Section, Table, Tag, Tx } from '../../../page/components.js';
import { countText, type Lbc } from '../../../page/format.js';
import { txLink } from '../../../page/links.js';
import type { TxInfoAnswer } from '../../answers.js';
import type { AskError } from '../../explorerRpcClient.js';
import type { PageContext } from '../../pageContext.js';
import { isMissing, Missing, orNull, type OrError } from '../parts.js';

/** Maximum number of outputs in the table, since each output needs a request to the node. */
const MOST = 20;
/** Maximum number of inputs and of outputs that are read from a transaction. */
const READ = 100;

interface ClaimOutput {
  readonly txid: string;
  readonly n: number;
  readonly height: number | undefined;
  readonly amount: Lbc;
  readonly address: string | undefined;
  readonly title: string | undefined;
  readonly channelId: string | undefined;
  readonly isUpdate: boolean;
}

/** The end of a claim. */
export interface ClaimEnd {
  readonly height: number;
  readonly isExpired: boolean;
  /** Transaction that spent the last output; undefined if the claim expired, or if the block is pruned. */
  readonly spentBy: string | undefined;
}

export interface FoundOutputs {
  /** Outputs of the claim, sorted from the latest. */
  readonly outputs: readonly ClaimOutput[];
  /** Whether the list contains all outputs since the creation of the claim. */
  readonly isWhole: boolean;
  /** Reason why an earlier output could not be read. */
  readonly error?: AskError;
}

interface OutPoint {
  readonly txid: string;
  readonly n: number;
}

/** Returns the output that an update of the claim spent; null if the page of inputs does not have it. */
function spentBy({ inputs }: TxInfoAnswer, claimId: string): OutPoint | null {
  const input = inputs.find(({ claim }) => claim?.claimId === claimId && claim.op !== 'support');
  return input?.txid === undefined || input.vout === undefined ? null : { txid: input.txid, n: input.vout };
}

/** Collects the outputs of a claim: starts at its last output and goes back along the outputs that its updates spent. */
export async function outputsOf(
  ask: PageContext['ask'],
  claimId: string,
  last: OutPoint,
): Promise<FoundOutputs> {
  const outputs: ClaimOutput[] = [];
  for (let at: OutPoint | null = last; at !== null && outputs.length < MOST;) {
    const { txid, n }: OutPoint = at;
    const info: OrError<TxInfoAnswer> = await orNull<TxInfoAnswer>(
      ask('gettxinfo', txid, n < READ ? 0 : n, READ),
    );
    if (isMissing(info)) return { outputs, isWhole: false, error: info };
    const output = info.outputs.find((one) => one.n === n);
    if (output?.claim === undefined) break;
    const { amount, address, claim } = output;
    const { title, channelId } = claim;
    const isUpdate = claim.op === 'update';
    outputs.push({ txid, n, height: info.height, amount, address, title, channelId, isUpdate });
    if (!isUpdate) return { outputs, isWhole: true };
    at = spentBy(info, claimId);
  }
  return { outputs, isWhole: false };
}

/** Names what an update changed, besides the amount. `before` is the output that it spent; undefined if it is not known. */
function changesOf(output: ClaimOutput, before: ClaimOutput | undefined): string[] {
  if (before === undefined) return [];
  return [
    output.address !== before.address && 'moved',
    output.title !== before.title && 'new title',
    output.channelId !== before.channelId && 'other channel',
  ].filter((change) => change !== false);
}

/** A row of the table: the end of the claim, or one of its outputs. */
type Row = { readonly end: ClaimEnd } | { readonly output: ClaimOutput; readonly changes: readonly string[] };

function rowsOf(outputs: readonly ClaimOutput[], end: ClaimEnd | null): Row[] {
  const rows = outputs.map((output, at): Row => ({ output, changes: changesOf(output, outputs[at + 1]) }));
  return end === null ? rows : [{ end }, ...rows];
}

function What({ row }: { readonly row: Row }) {
  if ('end' in row) return <Tag tone="warning">{row.end.isExpired ? 'expired' : 'abandoned'}</Tag>;
  const { output, changes } = row;
  return (
    <>
      <Tag tone={output.isUpdate ? 'info' : 'good'}>{output.isUpdate ? 'updated' : 'made'}</Tag>{' '}
      {changes.map((change) => (
        <>
          <Tag tone="warning">{change}</Tag>{' '}
        </>
      ))}
    </>
  );
}

function HeightCell({ row }: { readonly row: Row }) {
  const { height } = 'end' in row ? row.end : row.output;
  return height === undefined ? <Tag tone="warning">waits</Tag> : <Block height={height} />;
}

/** The output, or the transaction that spent the last output. */
function PlaceCell({ row }: { readonly row: Row }) {
  if (!('end' in row)) return <Output txid={row.output.txid} n={row.output.n} />;
  if (row.end.spentBy === undefined) return <>–</>;
  return (
    <>
      spent by <Tx txid={row.end.spentBy} />
    </>
  );
}

interface ClaimOutputsProps {
  readonly found: FoundOutputs;
  /** Null while the claim exists. */
  readonly end?: ClaimEnd | null;
}

export function ClaimOutputs({ found: { outputs, isWhole, error }, end = null }: ClaimOutputsProps) {
  return (
    <Section title="History" id="history">
      <Table<Row>
        caption="History of the claim, the latest first"
        empty="Its outputs are not known."
        rows={rowsOf(outputs, end)}
        columns={[
          { title: 'Block', isHead: true, cell: (row) => <HeightCell row={row} /> },
          { title: 'What', cell: (row) => <What row={row} /> },
          {
            title: 'Amount',
            unit: 'LBC',
            isNumber: true,
            cell: (row) => ('end' in row ? '–' : <Coins lbc={row.output.amount} />),
          },
          { title: 'Output', isTight: true, cell: (row) => <PlaceCell row={row} /> },
          {
            title: 'Address',
            cell: (row) =>
              'end' in row || row.output.address === undefined ? (
                '–'
              ) : (
                <Address address={row.output.address} />
              ),
          },
        ]}
      />
      {error && <Missing error={error} />}
      {!isWhole && error === undefined && outputs.length > 0 && (
        <p class="quiet">
          These are the latest {countText(outputs.length, 'output')}.{' '}
          <a href={txLink(outputs.at(-1)!.txid)}>The inputs of the oldest one lead further back.</a>
        </p>
      )}
    </Section>
  );
}
