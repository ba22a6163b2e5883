/** Table of the outputs of a claim, the latest first: its creation and its updates. */
import { Address, Coins, Block, Output, Section, Table, Tag } from '../../../page/components.js';
import { integerText } from '../../../page/format.js';
import { txLink } from '../../../page/links.js';
import type { TxInfoAnswer } from '../../answers.js';
import type { AskError } from '../../explorerRpcClient.js';
import type { PageContext } from '../../pageContext.js';
import { isMissing, Missing } from '../parts.js';

/** Maximum number of outputs in the table, since each output needs a request to the node. */
const MOST = 20;
/** Maximum number of inputs and of outputs that are read from a transaction. */
const READ = 100;

interface ClaimOutput {
  readonly txid: string;
  readonly n: number;
  readonly height: number | undefined;
  readonly amount: number;
  readonly address: string | undefined;
  readonly isUpdate: boolean;
}

export interface FoundOutputs {
  /** Outputs of the claim, sorted from the latest. */
  readonly outputs: readonly ClaimOutput[];
  /** Whether the list contains all outputs since the creation of the claim. */
  readonly isWhole: boolean;
}

/** Collects the outputs of a claim: starts at its last output and goes back along the outputs that its updates spent. */
export async function outputsOf(
  ask: PageContext['ask'],
  claimId: string,
  last: { readonly txid: string; readonly n: number },
): Promise<FoundOutputs> {
  const outputs: ClaimOutput[] = [];
  let at: { readonly txid: string; readonly n: number } | null = last;
  while (at !== null && outputs.length < MOST) {
    const { txid, n }: { readonly txid: string; readonly n: number } = at;
    const from = n < READ ? 0 : n;
    const info: TxInfoAnswer = await ask<TxInfoAnswer>('gettxinfo', txid, from, READ);
    const output = info.outputs.find((one) => one.n === n);
    if (output?.claim === undefined) break;
    const isUpdate = output.claim.op === 'update';
    outputs.push({ txid, n, height: info.height, amount: output.amount, address: output.address, isUpdate });
    if (!isUpdate) return { outputs, isWhole: true };
    const before = info.inputs.find(({ claim }) => claim?.claimId === claimId && claim.op !== 'support');
    at =
      before?.txid === undefined || before.vout === undefined ? null : { txid: before.txid, n: before.vout };
  }
  return { outputs, isWhole: false };
}

export function ClaimOutputs({ found }: { readonly found: FoundOutputs | AskError }) {
  if (isMissing(found))
    return (
      <Section title="History">
        <Missing error={found} />
      </Section>
    );
  const { outputs, isWhole } = found;
  return (
    <Section title="History" id="history">
      <Table
        caption="Outputs of the claim, the latest first"
        empty="Its outputs are not known."
        rows={outputs}
        columns={[
          {
            title: 'Block',
            isHead: true,
            cell: ({ height }) =>
              height === undefined ? <Tag tone="warning">waits</Tag> : <Block height={height} />,
          },
          {
            title: 'What',
            cell: ({ isUpdate, address }, index) => (
              <>
                <Tag tone={isUpdate ? 'info' : 'good'}>{isUpdate ? 'updated' : 'made'}</Tag>{' '}
                {isUpdate && outputs[index + 1] && outputs[index + 1]!.address !== address && (
                  <Tag tone="warning">moved</Tag>
                )}
              </>
            ),
          },
          { title: 'Amount', unit: 'LBC', isNumber: true, cell: ({ amount }) => <Coins lbc={amount} /> },
          { title: 'Output', isTight: true, cell: ({ txid, n }) => <Output txid={txid} n={n} /> },
          { title: 'Address', cell: ({ address }) => (address ? <Address address={address} /> : '–') },
        ]}
      />
      {!isWhole && outputs.length > 0 && (
        <p class="quiet">
          These are the latest {integerText(outputs.length)}.{' '}
          <a href={txLink(outputs.at(-1)!.txid)}>Its inputs lead further back.</a>
        </p>
      )}
    </Section>
  );
}
