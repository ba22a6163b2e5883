/** Channels, streams, reposts and collections: creating, updating, abandoning; keys of channels. */
import { abandonClaims, type ClaimOptions } from '../../txBuilding/claimBuilding.js';
import { createChannel, updateChannel } from '../../txBuilding/channelBuilding.js';
import { exportChannel, importChannel, signData } from '../../txBuilding/channelSharing.js';
import { createCollection, updateCollection } from '../../txBuilding/collectionBuilding.js';
import { createRepost, createStream, publish, updateStream } from '../../txBuilding/streamBuilding.js';
import {
  channelAbandon,
  channelCreate,
  channelExport,
  channelImport,
  channelSign,
  channelUpdate,
} from '../declarations/channel.js';
import { collectionAbandon, collectionCreate, collectionUpdate } from '../declarations/collection.js';
import { publish as publishDeclaration } from '../declarations/main.js';
import { streamAbandon, streamCreate, streamRepost, streamUpdate } from '../declarations/stream.js';
import { implement, type MethodImplementation } from '../implement.js';
import { answerWith, FIELDS, fieldsOf, fileOf, handOf, optionsOf, signingOf } from './txBuilding.js';

interface AbandonArgs {
  readonly claim_id?: string | undefined;
  readonly txid?: string | undefined;
  readonly nout?: number | undefined;
  readonly account_id?: string | undefined;
  readonly preview: boolean;
}

const choiceOf = ({ claim_id: claimId, txid, nout }: AbandonArgs) => ({ claimId, txid, nout });

/**
 * Options for abandoning claims. `fundingIsAll`: all chosen accounts pay the costs that the amounts of the claims do not
 * cover.
 */
const abandonOptions = (
  { account_id: accountId, preview }: AbandonArgs,
  fundingIsAll: boolean,
): ClaimOptions & { readonly fundingIsAll: boolean } => ({ accountId, preview, fundingIsAll });

const channelMethods: readonly MethodImplementation[] = [
  implement(channelCreate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const channel = {
      name: args.name,
      bidDewies: args.bid,
      allowDuplicateName: args.allow_duplicate_name,
      fields: fieldsOf(args, FIELDS.channel),
    };
    return answerWith(context, await createChannel(txBuilder, wallet, channel, optionsOf(args)), args);
  }),

  implement(channelUpdate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const change = {
      claimId: args.claim_id,
      bidDewies: args.bid,
      replace: args.replace,
      newSigningKey: args.new_signing_key,
      fields: fieldsOf(args, FIELDS.channel),
    };
    return answerWith(context, await updateChannel(txBuilder, wallet, change, optionsOf(args)), args);
  }),

  implement(channelAbandon, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const made = await abandonClaims(txBuilder, wallet, choiceOf(args), abandonOptions(args, false));
    return answerWith(context, made, args);
  }),

  implement(channelSign, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const signed = await signData(txBuilder, wallet, signingOf(args), args.hexdata, args.salt);
    return { signature: signed.signature, signing_ts: signed.salt, salt: signed.salt };
  }),

  implement(channelExport, (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    return exportChannel(txBuilder, wallet, { ...signingOf(args), channelAccountIds: args.account_id });
  }),

  implement(channelImport, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    return `Added channel signing key for ${await importChannel(txBuilder, wallet, args.channel_data)}.`;
  }),
];

const streamMethods: readonly MethodImplementation[] = [
  implement(publishDeclaration, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const publication = {
      name: args.name,
      bidDewies: args.bid,
      allowDuplicateName: args.allow_duplicate_name,
      clearChannel: args.clear_channel,
      fields: fieldsOf(args, FIELDS.stream),
      signing: signingOf(args),
      file: fileOf(context, args),
    };
    return answerWith(context, await publish(txBuilder, wallet, publication, optionsOf(args)), args);
  }),

  implement(streamCreate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const stream = {
      name: args.name,
      bidDewies: args.bid,
      allowDuplicateName: args.allow_duplicate_name,
      fields: fieldsOf(args, FIELDS.stream),
      signing: signingOf(args),
      file: fileOf(context, args),
    };
    return answerWith(context, await createStream(txBuilder, wallet, stream, optionsOf(args)), args);
  }),

  implement(streamUpdate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const change = {
      claimId: args.claim_id,
      bidDewies: args.bid,
      replace: args.replace,
      clearChannel: args.clear_channel,
      fields: fieldsOf(args, FIELDS.stream),
      signing: signingOf(args),
      file: fileOf(context, args),
    };
    return answerWith(context, await updateStream(txBuilder, wallet, change, optionsOf(args)), args);
  }),

  implement(streamRepost, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const repost = {
      name: args.name,
      bidDewies: args.bid,
      claimId: args.claim_id,
      allowDuplicateName: args.allow_duplicate_name,
      fields: fieldsOf(args, FIELDS.repost),
      signing: signingOf(args),
    };
    return answerWith(context, await createRepost(txBuilder, wallet, repost, optionsOf(args)), args);
  }),

  implement(streamAbandon, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const made = await abandonClaims(txBuilder, wallet, choiceOf(args), abandonOptions(args, true));
    return answerWith(context, made, args);
  }),
];

const collectionMethods: readonly MethodImplementation[] = [
  implement(collectionCreate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const collection = {
      name: args.name,
      bidDewies: args.bid,
      allowDuplicateName: args.allow_duplicate_name,
      fields: fieldsOf(args, FIELDS.collection),
      signing: signingOf(args),
    };
    return answerWith(context, await createCollection(txBuilder, wallet, collection, optionsOf(args)), args);
  }),

  implement(collectionUpdate, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const change = {
      claimId: args.claim_id,
      bidDewies: args.bid,
      replace: args.replace,
      clearChannel: args.clear_channel,
      fields: fieldsOf(args, FIELDS.collection),
      signing: signingOf(args),
    };
    return answerWith(context, await updateCollection(txBuilder, wallet, change, optionsOf(args)), args);
  }),

  implement(collectionAbandon, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const made = await abandonClaims(txBuilder, wallet, choiceOf(args), abandonOptions(args, true));
    return answerWith(context, made, args);
  }),
];

export const claimBuildingMethods: readonly MethodImplementation[] = [
  ...channelMethods,
  ...streamMethods,
  ...collectionMethods,
];
