/**
 * Shared code of methods that build transactions: conversion of parameters for `daemon/txBuilding`, waiting for confirmation
 * if requested, and the form of the answer.
 */
import type { JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { ClaimArguments } from '../../txBuilding/claimArguments.js';
import type { ClaimOptions } from '../../txBuilding/claimBuilding.js';
import type { MadeTransaction, TxBuilder } from '../../txBuilding/txBuilder.js';
import type { ChannelChoice } from '../../txBuilding/ownOutputs.js';
import type { FileChoice } from '../../txBuilding/ports.js';
import { transactionToJson } from '../../txo/outputJson.js';
import type { LoadedWallet } from '../../wallet/loadedWallet.js';
import type { DaemonContext } from '../context.js';
import { showPortOf } from '../showPort.js';
import { clearing, metadata, streamFields } from '../declarations/params.js';

/** Arguments that several methods share. */
interface TxBuildingArgs {
  readonly account_id?: string | undefined;
  readonly wallet_id?: string | undefined;
  readonly claim_address?: string | undefined;
  readonly funding_account_ids?: readonly string[] | undefined;
  readonly preview: boolean;
}

export function optionsOf(args: TxBuildingArgs): ClaimOptions {
  return {
    accountId: args.account_id,
    claimAddress: args.claim_address,
    fundingAccountIds: args.funding_account_ids,
    preview: args.preview,
  };
}

interface SigningArgs {
  readonly channel_id?: string | undefined;
  readonly channel_name?: string | undefined;
  readonly channel_account_id?: readonly string[] | undefined;
}

export function signingOf(args: SigningArgs): ChannelChoice {
  return {
    channelId: args.channel_id,
    channelName: args.channel_name,
    channelAccountIds: args.channel_account_id,
  };
}

const namesOf = (params: readonly { readonly name: string }[]): string[] => params.map(({ name }) => name);

/** Arguments of commands about claims, by kind. */
export const FIELDS = {
  stream: [...namesOf([...streamFields, ...metadata, ...clearing]), 'clear_fee'],
  repost: namesOf([...metadata, ...clearing]),
  channel: [
    ...namesOf([...metadata, ...clearing]),
    'email',
    'website_url',
    'featured',
    'cover_url',
    'clear_featured',
  ],
  collection: [...namesOf([...metadata, ...clearing]), 'claims', 'clear_claims'],
} as const;

/** Returns those parameters that are in `names` and that the caller gave. */
export function fieldsOf(args: object, names: readonly string[]): ClaimArguments {
  // Parameters were read by their declarations, so these values are JSON.
  const given = args as Readonly<Record<string, JsonValue | undefined>>;
  return Object.fromEntries(names.map((name) => [name, given[name]]));
}

interface FileArgs {
  readonly file_path?: string | undefined;
  readonly validate_file?: boolean | undefined;
  readonly optimize_file?: boolean | undefined;
}

/** Opens the file to publish. Throws if the component that creates streams does not run. */
export function fileOf({ services }: DaemonContext, args: FileArgs): FileChoice | undefined {
  if (args.file_path === undefined) return undefined;
  services.txBuilder.ports.publishing();
  return {
    path: args.file_path,
    validate: args.validate_file ?? false,
    optimize: args.optimize_file ?? false,
  };
}

/** Objects that a method needs to build a transaction. */
export interface MakingHand {
  readonly txBuilder: TxBuilder;
  readonly wallet: LoadedWallet;
}

export function handOf(
  { services: { txBuilder, wallets } }: DaemonContext,
  walletId: string | undefined,
): MakingHand {
  return { txBuilder, wallet: wallets.get(walletId) };
}

/**
 * Formats a created transaction as the answer of a method. If the caller requested it, waits until the wallet has processed
 * the transaction.
 */
export async function answerWith(
  context: DaemonContext,
  made: MadeTransaction,
  { preview, blocking }: { readonly preview: boolean; readonly blocking: boolean },
): Promise<JsonOut> {
  if (blocking && !preview) await context.services.txBuilder.waitFor(made);
  return transactionToJson(made, showPortOf(context));
}
