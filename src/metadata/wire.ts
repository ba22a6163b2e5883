/**
 * Reads protobuf messages into the generated types. The reader of the JavaScript library is not used, because signatures
 * cover re-encoded messages: fields must be kept and rejected exactly as in the reference's library (the C++ one). Three
 * rules differ from the JavaScript library: a known field with another wire type is an unknown field; unknown fields are
 * stored in their shortest form; a length that points past its message is rejected immediately. Strings that are not UTF-8
 * are rejected. Time and memory are linear in the input, nesting is bounded. Source: protobuf 3.20 parse_context.h,
 * unknown_field_set.cc.
 */
import { isUtf8 } from 'node:buffer';
import { create, ScalarType, toBinary } from '@bufbuild/protobuf';
import type { DescField, DescMessage, Message, MessageShape } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence } from '@bufbuild/protobuf/wkt';
import { asBuffer, type Bytes } from '../util/bytes.js';
import { MetadataError } from './metadataError.js';

const WIRE = { VARINT: 0, FIXED64: 1, LENGTH: 2, GROUP: 3, END_GROUP: 4, FIXED32: 5 } as const;

/** Maximum nesting of messages and groups. Source: `CodedInputStream::default_recursion_limit_`. */
const MAX_DEPTH = 100;
/** Maximum length in bytes of a 64-bit varint (`MAX_VARINT_SIZE`), and of a tag or a length (`MAX_SHORT_VARINT_SIZE`). */
const MAX_VARINT_SIZE = 10;
const MAX_SHORT_VARINT_SIZE = 5;
/** Maximum value of the fifth byte of an encoded length, so that lengths are below 2^31. */
const MAX_LENGTH_TOP = 7;

const { IMPLICIT } = FeatureSet_FieldPresence;

/** A message, viewed as an object with its fields by name. */
type Fields = Record<string, unknown>;

/** Description of a protobuf field with which the reader decodes it. */
interface FieldPlan {
  readonly name: string;
  readonly wireType: number;
  readonly isList: boolean;
  /** Whether the field's default value cannot be distinguished from its absence. */
  readonly isImplicit: boolean;
  /** Scalar type of the field; null if the field contains a message. */
  readonly scalar: ScalarType | null;
  readonly message: DescMessage | null;
  readonly oneof: string | null;
  /** Allowed values of a closed enumeration; null if any value is allowed. */
  readonly closedValues: ReadonlySet<number> | null;
}

const plans = new WeakMap<DescMessage, ReadonlyMap<number, FieldPlan>>();

function wireTypeOf(scalar: ScalarType | null): number {
  if (scalar === null || scalar === ScalarType.STRING || scalar === ScalarType.BYTES) return WIRE.LENGTH;
  return scalar === ScalarType.FLOAT ? WIRE.FIXED32 : WIRE.VARINT;
}

function planField(field: DescField): FieldPlan {
  const { message = null, enum: values } = field;
  const scalar = message !== null ? null : values !== undefined ? ScalarType.INT32 : (field.scalar ?? null);
  return {
    name: field.localName,
    wireType: wireTypeOf(scalar),
    isList: field.fieldKind === 'list',
    isImplicit: field.fieldKind !== 'list' && field.presence === IMPLICIT,
    scalar,
    message,
    oneof: field.oneof?.localName ?? null,
    closedValues:
      values === undefined || values.open ? null : new Set(values.values.map(({ number }) => number)),
  };
}

function planOf(schema: DescMessage): ReadonlyMap<number, FieldPlan> {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = new Map(schema.fields.map((field) => [field.number, planField(field)]));
    plans.set(schema, plan);
  }
  return plan;
}

/** Whether a varint of this length with this last byte is in its shortest form. */
const isShortest = (size: number, lastByte: number): boolean => size === 1 || lastByte !== 0;

/** Whether a tag marks the end of a message. The caller checks whether the message may end at this position. */
const endsMessage = (tag: number): boolean => tag === 0 || (tag & 7) === WIRE.END_GROUP;

class WireReader {
  private readonly bytes: Buffer;
  private at = 0;
  private depth = MAX_DEPTH;
  /** The varint that was read last: its low and high 32 bits. */
  private low = 0;
  private high = 0;
  /** Whether the bytes read so far equal their canonical encoding, i.e. the output of `writeMessage`. */
  isCanonical = true;

  constructor(bytes: Bytes) {
    this.bytes = asBuffer(bytes);
  }

  private byte(end: number): number {
    if (this.at >= end) throw new MetadataError('The message ends within a field');
    return this.bytes[this.at++]!;
  }

  /** Reads a varint of 64 bits; higher bits of the last byte are dropped. */
  private readVarint(end: number): void {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT_SIZE; i++) {
      const byte = this.byte(end);
      const bits = byte & 0x7f;
      if (i < 5) low |= bits << (7 * i);
      if (i === 4) high = bits >> 4;
      else if (i > 4) high |= bits << (7 * i - 32);
      if (byte < 0x80) {
        this.low = low >>> 0;
        this.high = high >>> 0;
        this.isCanonical &&= isShortest(i + 1, byte) && (i + 1 < MAX_VARINT_SIZE || byte === 1);
        return;
      }
    }
    throw new MetadataError('A number has more than 10 bytes');
  }

  private readTag(end: number): number {
    let tag = 0;
    for (let i = 0; i < MAX_SHORT_VARINT_SIZE; i++) {
      const byte = this.byte(end);
      tag |= (byte & 0x7f) << (7 * i);
      if (byte >= 0x80) continue;
      this.isCanonical &&= isShortest(i + 1, byte) && (i + 1 < MAX_SHORT_VARINT_SIZE || byte <= 0x0f);
      return tag >>> 0;
    }
    throw new MetadataError('A tag has more than 5 bytes');
  }

  /** Reads the length of a field. Returns the offset at which the field ends. */
  private readEnd(end: number): number {
    let length = 0;
    for (let i = 0; i < MAX_SHORT_VARINT_SIZE; i++) {
      const byte = this.byte(end);
      if (i === MAX_SHORT_VARINT_SIZE - 1 && byte > MAX_LENGTH_TOP) break;
      length |= (byte & 0x7f) << (7 * i);
      if (byte >= 0x80) continue;
      this.isCanonical &&= isShortest(i + 1, byte);
      if (length > end - this.at) throw new MetadataError('A length points past the end of its message');
      return this.at + length;
    }
    throw new MetadataError('A length is of 2 GiB or more');
  }

  private take(end: number): Buffer {
    const bytes = this.bytes.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  private takeFixed(size: number, end: number): Buffer {
    if (end - this.at < size) throw new MetadataError('The message ends within a field');
    return this.take(this.at + size);
  }

  private readScalar(field: FieldPlan, end: number): unknown {
    switch (field.scalar) {
      case ScalarType.STRING: {
        const bytes = this.take(this.readEnd(end));
        if (!isUtf8(bytes)) throw new MetadataError(`The ${field.name} is not UTF-8`);
        return bytes.toString('utf8');
      }
      case ScalarType.BYTES:
        return this.take(this.readEnd(end));
      case ScalarType.FLOAT:
        return this.takeFixed(4, end).readFloatLE();
      default:
      // All other scalar types are encoded as varints.
    }
    this.readVarint(end);
    const [low, high] = [this.low, this.high];
    switch (field.scalar) {
      case ScalarType.UINT32:
        this.isCanonical &&= high === 0;
        return low;
      case ScalarType.INT32:
        this.isCanonical &&= high === (low < 0x8000_0000 ? 0 : 0xffff_ffff);
        return low | 0;
      case ScalarType.SINT32:
        this.isCanonical &&= high === 0;
        return (low >>> 1) ^ -(low & 1);
      case ScalarType.BOOL:
        this.isCanonical &&= high === 0 && low <= 1;
        return low !== 0 || high !== 0;
      default: {
        const value = (BigInt(high) << 32n) | BigInt(low);
        return field.scalar === ScalarType.INT64 ? BigInt.asIntN(64, value) : value;
      }
    }
  }

  /**
   * Clears `isCanonical` for a default value (zero, false, empty) of a field without presence, since a canonical encoding
   * omits such a value.
   */
  private checkDefault(field: FieldPlan, value: unknown): void {
    if (!field.isImplicit) return;
    const isDefault = Buffer.isBuffer(value) ? value.length === 0 : !value;
    if (isDefault) this.isCanonical = false;
  }

  /** Shortest encoding of the varint that was read last. */
  private varint(): Buffer {
    const bytes: number[] = [];
    let { low, high } = { low: this.low, high: this.high };
    while (low > 0x7f || high !== 0) {
      bytes.push((low & 0x7f) | 0x80);
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    bytes.push(low);
    return Buffer.from(bytes);
  }

  private varintOf(value: number): Buffer {
    this.low = value;
    this.high = 0;
    return this.varint();
  }

  /** Appends the value of an unknown field in its shortest form, without its tag. */
  private copyUnknown(tag: number, end: number, out: Buffer[]): void {
    if (tag >>> 3 === 0) throw new MetadataError('A field has the number 0');
    switch (tag & 7) {
      case WIRE.VARINT:
        this.readVarint(end);
        out.push(this.varint());
        return;
      case WIRE.FIXED64:
        out.push(this.takeFixed(8, end));
        return;
      case WIRE.FIXED32:
        out.push(this.takeFixed(4, end));
        return;
      case WIRE.LENGTH: {
        const fieldEnd = this.readEnd(end);
        out.push(this.varintOf(fieldEnd - this.at), this.take(fieldEnd));
        return;
      }
      case WIRE.GROUP:
        this.enter();
        for (;;) {
          const inner = this.readTag(end);
          out.push(this.varintOf(inner));
          if (inner === tag + 1) break;
          this.copyUnknown(inner, end, out);
        }
        this.depth += 1;
        return;
      default:
        throw new MetadataError('A field has an unknown wire type, or a group ends that did not begin');
    }
  }

  private enter(): void {
    if (--this.depth < 0) throw new MetadataError(`Messages are nested more than ${MAX_DEPTH} levels deep`);
  }

  private keepUnknown(message: Message, tag: number, data: Buffer): void {
    (message.$unknown ??= []).push({ no: tag >>> 3, wireType: tag & 7, data });
  }

  /** Reads a nested message. If the field occurred before, the message is merged into the earlier one. */
  private readInner(field: FieldPlan, before: unknown, end: number): unknown {
    const message = (before ?? create(field.message!)) as Message;
    const innerEnd = this.readEnd(end);
    this.enter();
    this.readInto(field.message!, message, innerEnd);
    this.depth += 1;
    return message;
  }

  private readField(message: Message, field: FieldPlan, tag: number, end: number): void {
    const fields = message as unknown as Fields;
    const read = (before: unknown): unknown =>
      field.message === null ? this.readScalar(field, end) : this.readInner(field, before, end);
    if (field.isList) {
      (fields[field.name] as unknown[]).push(read(undefined));
    } else if (field.oneof !== null) {
      const chosen = fields[field.oneof] as { case?: string; value?: unknown };
      if (chosen.case !== undefined) this.isCanonical = false;
      const before = chosen.case === field.name ? chosen.value : undefined;
      fields[field.oneof] = { case: field.name, value: read(before) };
    } else {
      const value = read(fields[field.name]);
      this.checkDefault(field, value);
      if (field.closedValues?.has(value as number) === false) this.keepUnknown(message, tag, this.varint());
      else fields[field.name] = value;
    }
  }

  /**
   * Merges the bytes up to `end` into the message. QUIRK: the outermost message ends without an error at an end-group tag
   * without a start, or at a zero byte; later bytes are ignored and are not encoded again.
   */
  readInto(schema: DescMessage, message: Message, end: number): void {
    const plan = planOf(schema);
    /** Number of the field that was read last. In canonical encoding the numbers ascend, and unknown fields come last. */
    let lastNumber = 0;
    while (this.at < end) {
      const tag = this.readTag(end);
      if (this.depth === MAX_DEPTH && endsMessage(tag)) {
        this.isCanonical = false;
        return;
      }
      const number = tag >>> 3;
      const field = plan.get(number);
      if (field?.wireType === (tag & 7)) {
        if (number < lastNumber || (number === lastNumber && !field.isList)) this.isCanonical = false;
        lastNumber = Math.max(number, lastNumber);
        this.readField(message, field, tag, end);
        continue;
      }
      lastNumber = Infinity;
      const parts: Buffer[] = [];
      this.copyUnknown(tag, end, parts);
      this.keepUnknown(message, tag, parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    }
  }
}

/** Checks whether a message is canonical, without creating objects from it. */
class CanonicalCheck {
  private readonly bytes: Buffer;
  private at = 0;
  /** Whether a number was malformed or not in its shortest form. The check then ends. */
  private failed = false;
  /** High 32 bits of the varint that was read last. */
  private high = 0;

  constructor(bytes: Bytes) {
    this.bytes = asBuffer(bytes);
  }

  /** Reads a varint of 64 bits and returns its low 32 bits. Sets `failed` if it is not in its shortest form. */
  private varint(end: number): number {
    let low = 0;
    let high = 0;
    for (let i = 0; i < MAX_VARINT_SIZE && this.at < end; i++) {
      const byte = this.bytes[this.at++]!;
      const bits = byte & 0x7f;
      if (i < 5) low |= bits << (7 * i);
      if (i === 4) high = bits >> 4;
      else if (i > 4) high |= bits << (7 * i - 32);
      if (byte >= 0x80) continue;
      if (!isShortest(i + 1, byte) || (i + 1 === MAX_VARINT_SIZE && byte !== 1)) break;
      this.high = high >>> 0;
      return low >>> 0;
    }
    this.failed = true;
    return 0;
  }

  /** Whether the bytes up to `end` are a canonical message that has only known fields. */
  message(schema: DescMessage, end: number, depth: number): boolean {
    if (depth > MAX_DEPTH) return false;
    const plan = planOf(schema);
    let lastNumber = 0;
    let oneof: string | null = null;
    while (this.at < end) {
      const tag = this.varint(end);
      const number = tag >>> 3;
      const field = plan.get(number);
      if (this.failed || this.high !== 0 || field?.wireType !== (tag & 7)) return false;
      if (number < lastNumber || (number === lastNumber && !field.isList)) return false;
      lastNumber = number;
      if (field.oneof !== null) {
        if (oneof !== null) return false;
        oneof = field.oneof;
      }
      const isWhole =
        field.wireType === WIRE.LENGTH ? this.lengthField(field, end, depth) : this.number(field, end);
      if (!isWhole) return false;
    }
    return true;
  }

  private lengthField(field: FieldPlan, end: number, depth: number): boolean {
    const length = this.varint(end);
    const from = this.at;
    if (this.failed || this.high !== 0 || length > end - from) return false;
    if (field.message !== null) return this.message(field.message, from + length, depth + 1);
    this.at = from + length;
    if (length === 0) return !field.isImplicit;
    return field.scalar !== ScalarType.STRING || isUtf8(this.bytes.subarray(from, this.at));
  }

  /** Reads a field that is a varint. Fields of a fixed size and closed enumerations do not count as canonical. */
  private number(field: FieldPlan, end: number): boolean {
    if (field.wireType !== WIRE.VARINT || field.closedValues !== null) return false;
    const low = this.varint(end);
    const { high } = this;
    if (this.failed || (field.isImplicit && low === 0 && high === 0)) return false;
    if (field.scalar === ScalarType.INT32) return high === (low < 0x8000_0000 ? 0 : 0xffff_ffff);
    if (field.scalar === ScalarType.BOOL) return high === 0 && low <= 1;
    return high === 0 || (field.scalar !== ScalarType.UINT32 && field.scalar !== ScalarType.SINT32);
  }
}

/**
 * Whether the bytes are a message in canonical encoding. False also for some canonical messages that are rare, such as those
 * with unknown fields; the caller then decodes the message. Takes a fraction of the time of decoding. The fields must be
 * those of a proto3 message.
 */
export function isSurelyCanonical(schema: DescMessage, bytes: Bytes): boolean {
  return new CanonicalCheck(bytes).message(schema, bytes.length, 0);
}

function read<Schema extends DescMessage>(
  schema: Schema,
  bytes: Bytes,
): { message: MessageShape<Schema>; isCanonical: boolean } {
  const message = create(schema);
  const reader = new WireReader(bytes);
  reader.readInto(schema, message, bytes.length);
  return { message, isCanonical: reader.isCanonical };
}

/**
 * Encodes a message canonically: known fields by number, then unknown fields in the order of arrival. Throws `MetadataError`
 * if a required proto2 field is missing.
 */
export function writeMessage<Schema extends DescMessage>(
  schema: Schema,
  message: MessageShape<Schema>,
): Buffer {
  try {
    return asBuffer(toBinary(schema, message));
  } catch (error) {
    throw new MetadataError(`The message cannot be written: ${(error as Error).message}`);
  }
}

/** A decoded message with its canonical encoding. */
export interface ReadMessage<Schema extends DescMessage> {
  readonly message: MessageShape<Schema>;
  readonly canonical: Bytes;
}

/**
 * Decodes a message. Byte fields are views of the input. If the input is canonical, the canonical encoding is a view too,
 * which takes a third of the time of encoding. Throws `MetadataError` for bytes that the reference's library rejects.
 */
export function readMessage<Schema extends DescMessage>(schema: Schema, bytes: Bytes): ReadMessage<Schema> {
  const { message, isCanonical } = read(schema, bytes);
  return { message, canonical: isCanonical ? bytes : writeMessage(schema, message) };
}

/** Like `readMessage`, but required proto2 fields may be missing. Returns only the message, without its canonical encoding. */
export function readPartialMessage<Schema extends DescMessage>(
  schema: Schema,
  bytes: Bytes,
): MessageShape<Schema> {
  return read(schema, bytes).message;
}
