/**
 * Formats name proofs for RPC results. The documented profile has a format of its own; from the all-claims
 * fork on, it has the reference's `pairs`. Source: lbrycrd rpc/claimtrie.cpp `proofToJSON`.
 */
import type { NameProof } from '../../claimtrie/proof.js';
import { hashToHex } from '../../util/bytes.js';
import { rawJson, type JsonOut, type RawJson } from '../../util/json/jsonWrite.js';
import type { Profile } from '../declare/method.js';
import { t, type Schema, type SchemaFields } from '../../schema/schema.js';

const HASH_BYTES = 32;
const HASH_DIGITS = 2 * HASH_BYTES;

function proofFields(child: Schema): SchemaFields {
  return {
    nodes: t.optional(
      t.array(
        t.object({
          children: t.array(child, 'the children of the node, in byte order'),
          valueHash: t.optional(
            t.hash('the hash of the value of the node'),
            'if the node has a value and is not the node of the requested name',
          ),
        }),
        'the nodes from the root to the name',
      ),
      'before the all-claims fork',
    ),
    pairs: t.optional(
      t.array(
        t.object({
          odd: t.bool('whether this hash is the right operand when it is combined'),
          hash: t.hash('the hash to be mixed in'),
        }),
        'the hashes to combine, from the claim up to the root',
      ),
      'from the all-claims fork on',
    ),
  };
}

const NODE_HASH = t.optional(
  t.hash('the hash of the child node'),
  'absent for the child on the path to the name',
);
const WHEN_PROVEN = 'if the name has such a claim';
const TAKEOVER = t.int('the height at which the controlling claim of the name last changed');

/** Schema of the result of methods that return name proofs. */
export const PROOF_SCHEMA = t.named(
  'NameProof',
  t.union([
    {
      when: 'in the documented profile',
      schema: t.object({
        ...proofFields(
          t.object({
            child: t.object({
              character: t.str('the next byte of the name, as the character with that code point'),
              nodeHash: NODE_HASH,
            }),
          }),
        ),
        txhash: t.optional(t.hash('the transaction that contains the claim'), WHEN_PROVEN),
        nOut: t.optional(t.int('the index of its output'), WHEN_PROVEN),
        'last takeover height': t.optional(TAKEOVER, WHEN_PROVEN),
      }),
    },
    {
      when: 'in the other profiles',
      schema: t.object({
        ...proofFields(t.object({ character: t.int('the next byte of the name'), nodeHash: NODE_HASH })),
        txId: t.optional(t.hash('the transaction that contains the claim'), WHEN_PROVEN),
        n: t.optional(t.int('the index of its output'), WHEN_PROVEN),
        lastTakeoverHeight: t.optional(TAKEOVER, WHEN_PROVEN),
      }),
    },
  ]),
);

function childAnswer(character: number, nodeHash: string | undefined, profile: Profile): JsonOut {
  if (profile !== 'documented') return { character, nodeHash };
  return { child: { character: String.fromCharCode(character), nodeHash } };
}

function pathAnswer({ nodes, pairs }: NameProof, profile: Profile): Record<string, JsonOut | undefined> {
  const shownNodes = nodes.map(({ children, valueHash }) => ({
    children: children.map(({ character, nodeHash }) =>
      childAnswer(character, nodeHash === null ? undefined : hashToHex(nodeHash), profile),
    ),
    valueHash: valueHash === null ? undefined : hashToHex(valueHash),
  }));
  return {
    nodes: nodes.length > 0 ? shownNodes : undefined,
    pairs: pairs.length > 0 ? pairsJson(pairs) : undefined,
  };
}

/** Writes the pairs as JSON text. A proof has some fifty of them, and building objects takes longer than writing the text. */
function pairsJson(pairs: NameProof['pairs']): RawJson {
  const hashes = Buffer.allocUnsafe(pairs.length * HASH_BYTES);
  let end = 0;
  for (const { hash } of pairs) {
    end += HASH_BYTES;
    for (let i = 0; i < HASH_BYTES; i++) hashes[end - 1 - i] = hash[i]!;
  }
  const hex = hashes.toString('hex');
  let text = '';
  for (let n = 0; n < pairs.length; n++) {
    const hash = hex.slice(n * HASH_DIGITS, (n + 1) * HASH_DIGITS);
    text += `${n === 0 ? '[' : ','}{"odd":${pairs[n]!.odd},"hash":"${hash}"}`;
  }
  return rawJson(`${text}]`);
}

export function proofAnswer(proof: NameProof, profile: Profile): JsonOut {
  const path = pathAnswer(proof, profile);
  const { claim } = proof;
  if (claim === null) return path;
  const txId = hashToHex(claim.txid);
  return profile === 'documented'
    ? { ...path, txhash: txId, nOut: claim.n, 'last takeover height': claim.lastTakeoverHeight }
    : { ...path, txId, n: claim.n, lastTakeoverHeight: claim.lastTakeoverHeight };
}
