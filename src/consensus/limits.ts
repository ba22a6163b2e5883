/**
 * The sizes, counts and amounts that a block or a transaction may not exceed.
 * Contains only constants and the money range. Source: lbrycrd consensus/consensus.h, amount.h, nameclaim.h, chain.h.
 */

/** Number of satoshis in one coin. */
export const COIN = 100_000_000n;
/** 21,000,000,000 coins, a thousand times Bitcoin's. */
export const MAX_MONEY = 21_000_000_000n * COIN;

/** Size in bytes that limits buffers; the consensus rule itself is the weight. */
export const MAX_BLOCK_SERIALIZED_SIZE = 8_000_000;
/** BIP141 weight units. */
export const MAX_BLOCK_WEIGHT = 8_000_000;
export const MAX_BLOCK_SIGOPS_COST = 80_000;
/** Number of confirmations from which a coinbase output may be spent. */
export const COINBASE_MATURITY = 100;
/** BIP141: weight of a byte outside the witness. A witness byte has weight 1. */
export const WITNESS_SCALE_FACTOR = 4;
/** Weight of 60 bytes, the minimum size of a valid transaction. */
export const MIN_TRANSACTION_WEIGHT = WITNESS_SCALE_FACTOR * 60;
/** Weight of 10 bytes, the minimum size of bytes that parse as a transaction. */
export const MIN_SERIALIZABLE_TRANSACTION_WEIGHT = WITNESS_SCALE_FACTOR * 10;

/** Maximum size in bytes of the claim prefix that precedes the ordinary output script. */
export const MAX_CLAIM_SCRIPT_SIZE = 8192;
export const MAX_CLAIM_NAME_SIZE = 255;

/** Maximum time by which a header may be ahead of the node's adjusted time. */
export const MAX_FUTURE_BLOCK_TIME_SEC = 2 * 60 * 60;

/** Source: `MoneyRange`. */
export function isMoneyRange(valueSat: bigint): boolean {
  return valueSat >= 0n && valueSat <= MAX_MONEY;
}

/** Coins with two to eight decimals, as debug texts show them. Source: `FormatMoney`. */
export function formatMoney(valueSat: bigint): string {
  const magnitude = valueSat < 0n ? -valueSat : valueSat;
  const fraction = (magnitude % COIN).toString().padStart(8, '0');
  const trimmed = fraction.slice(0, 2) + fraction.slice(2).replace(/0+$/, '');
  return `${valueSat < 0n ? '-' : ''}${magnitude / COIN}.${trimmed}`;
}
