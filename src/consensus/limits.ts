/**
 * The sizes, counts and amounts that a block or a transaction may not exceed.
 * Contains only constants and the money range. Source: lbrycrd consensus/consensus.h, amount.h, nameclaim.h, chain.h.
 */

/** Number of satoshis in one coin. */
export const COIN = 100_000_000n;
/** 21,000,000,000 coins, a thousand times Bitcoin's. */
export const MAX_MONEY = 21_000_000_000n * COIN;

/** Maximum serialized size of a block in bytes. It only limits buffers; the consensus rule is the limit of the weight. */
export const MAX_BLOCK_SERIALIZED_SIZE = 8_000_000;
/** Maximum weight of a block in weight units (BIP141). */
export const MAX_BLOCK_WEIGHT = 8_000_000;
export const MAX_BLOCK_SIGOPS_COST = 80_000;
/** Number of confirmations from which a coinbase output may be spent. */
export const COINBASE_MATURITY = 100;
/** Weight of a byte outside the witness (BIP141). A witness byte has weight 1. */
export const WITNESS_SCALE_FACTOR = 4;
/** Weight of 60 bytes, the minimum size of a valid transaction. */
export const MIN_TRANSACTION_WEIGHT = WITNESS_SCALE_FACTOR * 60;
/** Weight of 10 bytes, the minimum size of bytes that parse as a transaction. */
export const MIN_SERIALIZABLE_TRANSACTION_WEIGHT = WITNESS_SCALE_FACTOR * 10;

/** Maximum size in bytes of the claim prefix that precedes the ordinary output script. */
export const MAX_CLAIM_SCRIPT_SIZE = 8192;
export const MAX_CLAIM_NAME_SIZE = 255;

/** Maximum number of seconds by which a header's time may be ahead of the node's adjusted time. */
export const MAX_FUTURE_BLOCK_TIME_SEC = 2 * 60 * 60;

/** Source: `MoneyRange`. */
export function isMoneyRange(valueSat: bigint): boolean {
  return valueSat >= 0n && valueSat <= MAX_MONEY;
}

/** Formats an amount in coins with two to eight decimals, as debug texts show it. Source: `FormatMoney`. */
export function formatMoney(valueSat: bigint): string {
  const magnitude = valueSat < 0n ? -valueSat : valueSat;
  const fraction = (magnitude % COIN).toString().padStart(8, '0');
  const trimmed = fraction.slice(0, 2) + fraction.slice(2).replace(/0+$/, '');
  return `${valueSat < 0n ? '-' : ''}${magnitude / COIN}.${trimmed}`;
}
