/** Differences between the answers of our daemon and those of lbry-sdk, and the reasons why they are accepted. */
export type Json = Record<string, unknown>;
export type Question = readonly [method: string, params: Json];

/** A method whose answers differ for a reason. */
export interface Reasoned {
  readonly why: string;
  readonly applies: (method: string, params: Json) => boolean;
  /** Returns the part of an answer that is compared; null if answers are not compared. */
  readonly alike: ((answer: unknown) => unknown) | null;
}

const sorted = (answer: unknown): unknown => {
  const { items, ...page } = answer as { items: Json[] };
  const key = ({ txid, nout, address }: Json): string => JSON.stringify([txid, nout, address]);
  return { ...page, items: items.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)) };
};

/** The answer with each object changed, inner objects first. */
function mapObjects(answer: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(answer)) return answer.map((item) => mapObjects(item, change));
  if (typeof answer !== 'object' || answer === null) return answer;
  return change(
    Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, mapObjects(value, change)])),
  );
}

function asPayment(object: Json): Json {
  if (object['type'] !== 'purchase') return object;
  const { claim_id: _, claim: __, ...payment } = object;
  return { ...payment, type: 'payment' };
}

export const REASONED: readonly Reasoned[] = [
  {
    why: 'The order of items with equal names or amounts is not defined.',
    applies: (_, { order_by }) => order_by === 'name' || order_by === 'amount',
    alike: sorted,
  },
  {
    why: 'lbcnet orders addresses by account, chain and number. In lbrynet the database chooses the order.',
    applies: (method) => method === 'address_list',
    alike: sorted,
  },
  {
    why: 'lbcnet shows in every list that a payment is a purchase. lbrynet shows it only if it has loaded the whole transaction.',
    applies: (method) => ['txo_list', 'utxo_list', 'transaction_show'].includes(method),
    alike: (answer) => mapObjects(answer, asPayment),
  },
  {
    why: 'lbcnet shows `has_signing_key` in transactions too. lbrynet shows transactions without a wallet.',
    applies: (method) => method === 'transaction_show',
    alike: (answer) => mapObjects(answer, ({ has_signing_key: _, ...object }) => object),
  },
  {
    why: 'In lbrynet all states of a claim in one list have the `is_spent` of the last state.',
    applies: (method, { resolve }) => method === 'txo_list' && resolve === true,
    alike: (answer) => mapObjects(answer, ({ is_spent: _, ...object }) => object),
  },
  {
    why: 'lbrynet caches balances of a wallet without regard to the number of confirmations.',
    applies: (method, { confirmations }) => method === 'wallet_balance' && confirmations !== undefined,
    alike: null,
  },
];

/** Members whose texts are equal for all programs that build a transaction. */
const SAME_FOR_ALL = ['type', 'claim_op', 'name', 'normalized_name', 'value_type'];

/** The shape of an answer whose amounts, ids and keys are random: members, types, flags and inputs. */
export function formOf(answer: unknown, member = ''): unknown {
  if (Array.isArray(answer)) {
    const forms = answer.map((item) => formOf(item, member));
    // The number of spent coins is random.
    return member === 'inputs' ? [...new Set(forms.map((form) => JSON.stringify(form)))].sort() : forms;
  }
  if (typeof answer === 'object' && answer !== null)
    return Object.fromEntries(
      Object.keys(answer)
        .sort()
        .map((name) => [name, formOf((answer as Json)[name], name)]),
    );
  if (typeof answer === 'string' && !SAME_FOR_ALL.includes(member)) return 'text';
  return typeof answer === 'number' ? 'number' : answer;
}

/** Differences of two answers, as `path: this / that`. */
export function differencesOf(one: unknown, other: unknown, path = ''): string[] {
  if (Object.is(one, other)) return [];
  const isBranch = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null;
  if (!isBranch(one) || !isBranch(other) || Array.isArray(one) !== Array.isArray(other))
    return [`${path}: ${JSON.stringify(one)} / ${JSON.stringify(other)}`];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].flatMap((name) => differencesOf(one[name], other[name], `${path}.${name}`));
}
