/**
 * Converts the parameters of lists to filters of the ledger's database. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `_constrain_txo_from_kwargs`.
 */
import { hashFromHex } from '../../util/bytes.js';
import { badValue, DaemonError } from '../base/daemonError.js';
import { TXO_TYPE, type TxoFilter, type TxoOrder, type TxoType } from '../ledger/txoQuery.js';

type Texts = readonly string[] | undefined;
type Flag = boolean | undefined;

/** List parameters by name. If a parameter has a list of values, an output matches if any of them matches. */
export interface TxoChoice {
  readonly type?: Texts;
  readonly txid?: Texts;
  readonly claim_id?: Texts;
  readonly name?: Texts;
  readonly channel_id?: Texts;
  readonly not_channel_id?: Texts;
  readonly reposted_claim_id?: Texts;
  readonly is_spent?: Flag;
  readonly is_not_spent?: Flag;
  readonly has_source?: Flag;
  readonly has_no_source?: Flag;
  readonly is_my_input_or_output?: Flag;
  readonly is_my_output?: Flag;
  readonly is_not_my_output?: Flag;
  readonly is_my_input?: Flag;
  readonly is_not_my_input?: Flag;
  readonly exclude_internal_transfers?: Flag;
}

const ORDERS: readonly TxoOrder[] = ['name', 'height', 'amount', 'none'];
const TXID = /^[0-9a-fA-F]{64}$/;

/** Parses an order. Throws `ValueError` if invalid. */
export function txoOrderOf(order: string | undefined): TxoOrder {
  const found = order === undefined ? 'height' : ORDERS.find((one) => one === order);
  if (found === undefined) throw badValue(`'${order}' is not a valid --order_by value.`);
  return found;
}

function typeOf(name: string): TxoType {
  if (Object.hasOwn(TXO_TYPE, name)) return TXO_TYPE[name as keyof typeof TXO_TYPE];
  throw new DaemonError(
    'KeyError',
    `'${name}' is not a valid output type: ${Object.keys(TXO_TYPE).join(', ')}.`,
  );
}

function txidOf(text: string): Buffer {
  if (!TXID.test(text)) throw badValue(`'${text}' is not a transaction id: 64 hexadecimal digits.`);
  return hashFromHex(text);
}

/** Combines two opposite flags into a condition: true, false, or undefined for no condition. `yes` takes precedence. */
function choice(yes: Flag, no: Flag): boolean | undefined {
  if (yes === true) return true;
  return no === true ? false : undefined;
}

function ownershipOf(given: TxoChoice): Pick<TxoFilter, 'isMyInputOrOutput' | 'isMyInput' | 'isMyOutput'> {
  if (given.is_my_input_or_output === true) return { isMyInputOrOutput: true };
  const isMyInput = choice(given.is_my_input, given.is_not_my_input);
  const isMyOutput = choice(given.is_my_output, given.is_not_my_output);
  return {
    ...(isMyInput === undefined ? {} : { isMyInput }),
    ...(isMyOutput === undefined ? {} : { isMyOutput }),
  };
}

/** Builds a filter of outputs. Throws `KeyError` for an unknown type and `ValueError` for an invalid txid. */
export function txoFilterOf(accountIds: readonly string[], given: TxoChoice): TxoFilter {
  const isSpent = choice(given.is_spent, given.is_not_spent);
  const hasSource = choice(given.has_source, given.has_no_source);
  return {
    accountIds,
    ...(given.type ? { types: given.type.map(typeOf) } : {}),
    ...(given.txid ? { txids: given.txid.map(txidOf) } : {}),
    ...(given.claim_id ? { claimIds: given.claim_id } : {}),
    ...(given.name ? { names: given.name } : {}),
    ...(given.channel_id ? { channelIds: given.channel_id } : {}),
    ...(given.not_channel_id ? { notChannelIds: given.not_channel_id } : {}),
    ...(given.reposted_claim_id ? { repostedClaimIds: given.reposted_claim_id } : {}),
    ...(isSpent === undefined ? {} : { isSpent }),
    ...(hasSource === undefined ? {} : { hasSource }),
    ...ownershipOf(given),
    excludeInternalTransfers: given.exclude_internal_transfers === true,
  };
}

/** Limits a list to unspent outputs, unless the caller requests spent ones. */
export const unspentByDefault = <Given extends TxoChoice>(given: Given): Given =>
  given.is_spent === true ? given : { ...given, is_not_spent: true };

/** Adds the conditions that select supports to a list query. Source: `jsonrpc_support_list`. */
export function supportChoice<Given extends TxoChoice>(
  given: Given,
  { received, sent, staked }: Readonly<Record<'received' | 'sent' | 'staked', Flag>>,
): TxoChoice {
  const supports = { ...unspentByDefault(given), type: ['support'] };
  if (received) return { ...supports, is_not_my_input: true, is_my_input: false, is_my_output: true };
  // For sent tips no condition on spending is added, because the wallet does not know whether other users have spent them.
  if (sent)
    return {
      ...supports,
      is_my_input: true,
      is_not_my_output: true,
      is_my_output: false,
      is_spent: false,
      is_not_spent: false,
    };
  return staked ? { ...supports, is_my_input: true, is_my_output: true } : supports;
}
