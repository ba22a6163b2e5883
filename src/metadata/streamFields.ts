/**
 * Sets the fields of a stream from the arguments of commands: its fee, its source, and its kind of media.
 * Source: lbry-sdk lbry/schema/claim.py `Stream.update`, attrs.py.
 */
import { create } from '@bufbuild/protobuf';
import { decimalOf, integerOf, isTruthy, MAX_UINT32, textOf, type Arguments } from './arguments.js';
import { feeCurrencies, parseFeeAddress, setFeeAmount } from './fee.js';
import { mediaTypeOfFile, streamKindOf, type StreamKind } from './mediaTypes.js';
import {
  AudioSchema,
  FeeSchema,
  ImageSchema,
  SourceSchema,
  VideoSchema,
  type Stream,
} from './messages/claim_pb.js';
import { MetadataError } from './metadataError.js';
import { setSourceField } from './sourceFields.js';

const MIN_INT64 = -(1n << 63n);
const MAX_INT64 = (1n << 63n) - 1n;

function setFee(stream: Stream, args: Arguments): void {
  const [address, currency, amount] = ['address', 'currency', 'amount'].map((name) =>
    args.take(`fee_${name}`),
  );
  const known = stream.fee?.currency ?? 0;
  const fee = stream.fee ?? create(FeeSchema);
  if (isTruthy(amount)) {
    const named = isTruthy(currency)
      ? textOf(currency, 'fee_currency')
      : known === 0
        ? ''
        : feeCurrencies.nameOf(known);
    if (named === '') throw new MetadataError('In order to set a fee amount, please specify a fee currency.');
    const name = named.toUpperCase();
    if (!['LBC', 'BTC', 'USD'].includes(name))
      throw new MetadataError(`Missing or unknown currency provided: ${named.toLowerCase()}`);
    setFeeAmount(fee, name, decimalOf(amount, 'fee_amount'));
    stream.fee = fee;
  } else if (isTruthy(currency)) {
    throw new MetadataError('In order to set a fee currency, please specify a fee amount.');
  }
  if (isTruthy(address)) {
    if (fee.currency === 0)
      throw new MetadataError('In order to set a fee address, please specify a fee amount and currency.');
    fee.address = parseFeeAddress(textOf(address, 'fee_address'));
  }
}

type Dimensions = Partial<Record<'height' | 'width' | 'duration', number>>;

/** Removes the arguments for height, width and duration, and returns their values. Null counts as absent. */
function takeDimensions(args: Arguments): Dimensions {
  const dimensions: Dimensions = {};
  for (const name of ['height', 'width', 'duration'] as const) {
    const value = args.take(name);
    if (value !== undefined && value !== null)
      dimensions[name] = Number(integerOf(value, name, 0n, MAX_UINT32));
  }
  return dimensions;
}

/** Sets the dimensions that streams of this kind have. If no dimension is given, the kind of the stream is not set either. */
function setDimensions(stream: Stream, kind: StreamKind | null, dimensions: Dimensions): void {
  const { height, width, duration } = dimensions;
  const flat = { ...(height === undefined ? {} : { height }), ...(width === undefined ? {} : { width }) };
  const lasting = duration === undefined ? {} : { duration };
  const { type } = stream;
  if (kind === 'image' && Object.keys(flat).length > 0) {
    const value = type.case === 'image' ? type.value : create(ImageSchema);
    stream.type = { case: 'image', value: Object.assign(value, flat) };
  } else if (kind === 'video' && Object.keys({ ...flat, ...lasting }).length > 0) {
    const value = type.case === 'video' ? type.value : create(VideoSchema);
    stream.type = { case: 'video', value: Object.assign(value, flat, lasting) };
  } else if (kind === 'audio' && duration !== undefined) {
    const value = type.case === 'audio' ? type.value : create(AudioSchema);
    stream.type = { case: 'audio', value: Object.assign(value, lasting) };
  }
}

/** Sets the source and the kind of the stream. The kind is derived from the file name, otherwise from the media type. */
function setStreamSource(
  stream: Stream,
  args: Arguments,
  contentExtension: string | null,
): StreamKind | null {
  const take = (argument: string, field: string): boolean => {
    const value = args.take(argument);
    if (value === undefined) return false;
    setSourceField((stream.source ??= create(SourceSchema)), field, argument, value);
    return true;
  };
  if (!take('sd_hash', 'sd_hash')) take('bt_infohash', 'bt_infohash');
  take('file_name', 'name');
  take('file_hash', 'file_hash');
  take('file_size', 'size');
  const { source } = stream;
  if (source === undefined) return null;
  if (source.name === '') return source.mediaType === '' ? null : streamKindOf(source.mediaType);
  const { mediaType, kind } = mediaTypeOfFile(source.name, contentExtension);
  source.mediaType = mediaType;
  return kind;
}

/**
 * Sets the fields that only streams have, except text fields. `contentExtension` is the file extension that was detected
 * from the content of the stream's file; null if unknown. Throws `MetadataError`.
 */
export function setStreamFields(stream: Stream, args: Arguments, contentExtension: string | null): void {
  if (args.takeFlag('clear_fee')) {
    if (args.takeAll('fee_').some(([, value]) => isTruthy(value)))
      throw new MetadataError('clear_fee removes the price, so a price cannot be given with it.');
    delete stream.fee;
  } else setFee(stream, args);
  const dimensions = takeDimensions(args);
  args.requireNoNulls();
  const kind = setStreamSource(stream, args, contentExtension);
  if (stream.type.case !== undefined && stream.type.case !== kind) stream.type = { case: undefined };
  setDimensions(stream, kind, dimensions);
  const releaseTime = args.take('release_time');
  if (releaseTime !== undefined)
    stream.releaseTime = integerOf(releaseTime, 'release_time', MIN_INT64, MAX_INT64);
  for (const [name, field] of [
    ['author', 'author'],
    ['license', 'license'],
    ['license_url', 'licenseUrl'],
  ] as const) {
    const value = args.take(name);
    if (value !== undefined) stream[field] = textOf(value, name);
  }
}
