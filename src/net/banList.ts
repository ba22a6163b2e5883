/**
 * Bans of addresses and subnets, each until a time. They are stored in `banlist.dat` in Core's format. The caller must
 * disconnect peers that are connected when they are banned. Source: Core net.cpp `CConnman::Ban`, `Unban`, `IsBanned`,
 * `SweepBanned`, `DumpBanlist`, addrdb.h `CBanEntry`.
 *
 * Deviation: the number of bans for misbehaviour is limited; otherwise an owner of many addresses could fill the memory.
 */
import { compareBytes, toLatin1 } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import { systemErrorCode } from '../util/text/environmentError.js';
import { Reader, ReadError } from '../util/reader.js';
import { SerialQueue } from '../scheduler/serialQueue.js';
import { quarantine } from '../util/quarantine.js';
import { Subnet } from '../util/network/subnet.js';
import { Writer } from '../util/writer.js';
import { readCheckedFile, writeCheckedFile } from './checkedFile.js';
import { formatSubnet, isValid, parseHost, type HostAddress } from './netAddress.js';

/** Reasons of bans, as `listbanned` returns them. */
const BAN_REASONS = ['unknown', 'node misbehaving', 'manually added'] as const;
export type BanReason = (typeof BAN_REASONS)[number];

export interface Ban {
  readonly subnet: Subnet;
  readonly createdSec: number;
  readonly untilSec: number;
  readonly reason: BanReason;
}

export interface BanListOptions {
  /** Path of `banlist.dat` in the folder of the network. */
  readonly path: string;
  readonly magic: Buffer;
  /** Default duration of a ban in seconds (`-bantime`). */
  readonly banTimeSec: number;
}

export interface BanListDeps {
  readonly nowSec: () => number;
  readonly log: Logger;
  /** Shows a warning to the operator and writes it to the log. Without this function the warning is only logged. */
  readonly warn?: ((message: string) => void) | undefined;
}

const ENTRY_VERSION = 1;
const IP_BYTES = 16;
/** Maximum number of bans for misbehaviour. Arbitrary: bounds the memory to about 25 MB. */
export const MAX_MISBEHAVIOUR_BANS = 50_000;
const MAX_FILE_BYTES = 64 << 20;

/** Parses an argument of `setban`: an address, or a subnet with a slash. Null if it is neither. */
export function parseBanTarget(text: string): Subnet | null {
  const subnet = Subnet.parse(text, parseHost);
  if (subnet === null || text.includes('/')) return subnet;
  return isValid({ ip: Buffer.from(subnet.network) }) ? subnet : null;
}

export class BanList {
  private readonly options: BanListOptions;
  private readonly deps: BanListDeps;
  /** Bans by mask of the subnet, then by network address. An address is looked up once for each mask that occurs. */
  private byMask = new Map<string, { mask: Uint8Array; bans: Map<string, Ban> }>();
  private misbehaviourCount = 0;
  private isDirty = false;
  private readonly queue = new SerialQueue();

  constructor(options: BanListOptions, deps: BanListDeps) {
    this.options = options;
    this.deps = deps;
  }

  isBanned(address: HostAddress): boolean {
    if (!isValid(address)) return false;
    const nowSec = this.deps.nowSec();
    const masked = Buffer.alloc(IP_BYTES);
    for (const { mask, bans } of this.byMask.values()) {
      for (let i = 0; i < IP_BYTES; i++) masked[i] = address.ip[i]! & mask[i]!;
      const ban = bans.get(toLatin1(masked));
      if (ban !== undefined && nowSec < ban.untilSec) return true;
    }
    return false;
  }

  /** Whether exactly this subnet is banned. */
  isSubnetBanned(subnet: Subnet): boolean {
    const ban = this.byMask.get(toLatin1(subnet.mask))?.bans.get(toLatin1(subnet.network));
    return ban !== undefined && this.deps.nowSec() < ban.untilSec;
  }

  /**
   * Bans a subnet for `timeSec` seconds or, with `absolute`, until the Unix time `timeSec`. Zero and negative values mean
   * the duration `-bantime`. Returns false if the subnet is already banned for at least as long.
   */
  ban(subnet: Subnet, reason: BanReason, timeSec = 0, absolute = false): boolean {
    const createdSec = this.deps.nowSec();
    const untilSec = Math.min(
      timeSec <= 0 ? createdSec + this.options.banTimeSec : absolute ? timeSec : createdSec + timeSec,
      Number.MAX_SAFE_INTEGER,
    );
    const present = this.byMask.get(toLatin1(subnet.mask))?.bans.get(toLatin1(subnet.network));
    if (present !== undefined && present.untilSec >= untilSec) return false;
    this.put({ subnet, createdSec, untilSec, reason });
    this.isDirty = true;
    if (this.misbehaviourCount > MAX_MISBEHAVIOUR_BANS) this.thinOut();
    return true;
  }

  /** Bans a single address for the duration `-bantime`. */
  banAddress(address: HostAddress, reason: BanReason): boolean {
    return this.ban(Subnet.single(address.ip), reason);
  }

  /** Removes the ban of exactly this subnet. Returns false if there is none. */
  unban(subnet: Subnet): boolean {
    if (!this.drop(subnet)) return false;
    this.isDirty = true;
    return true;
  }

  clear(): void {
    this.byMask = new Map();
    this.misbehaviourCount = 0;
    this.isDirty = true;
  }

  /** Returns the current bans, ordered by network address. */
  list(): Ban[] {
    this.sweep();
    return [...this.all()].sort(
      (a, b) =>
        compareBytes(a.subnet.network, b.subnet.network) || compareBytes(a.subnet.mask, b.subnet.mask),
    );
  }

  /** Removes expired bans. */
  sweep(): void {
    const nowSec = this.deps.nowSec();
    for (const ban of [...this.all()]) {
      if (nowSec <= ban.untilSec) continue;
      this.drop(ban.subnet);
      this.isDirty = true;
      this.deps.log.debug(
        'net',
        () => `Removed banned node ip/subnet from banlist.dat: ${formatSubnet(ban.subnet)}`,
      );
    }
  }

  private *all(): Generator<Ban> {
    for (const { bans } of this.byMask.values()) yield* bans.values();
  }

  private put(ban: Ban): void {
    this.drop(ban.subnet);
    const maskKey = toLatin1(ban.subnet.mask);
    const group = this.byMask.get(maskKey) ?? { mask: ban.subnet.mask, bans: new Map<string, Ban>() };
    this.byMask.set(maskKey, group);
    group.bans.set(toLatin1(ban.subnet.network), ban);
    if (ban.reason === 'node misbehaving') this.misbehaviourCount++;
  }

  private drop(subnet: Subnet): boolean {
    const maskKey = toLatin1(subnet.mask);
    const group = this.byMask.get(maskKey);
    const networkKey = toLatin1(subnet.network);
    const ban = group?.bans.get(networkKey);
    if (group === undefined || ban === undefined) return false;
    group.bans.delete(networkKey);
    if (group.bans.size === 0) this.byMask.delete(maskKey);
    if (ban.reason === 'node misbehaving') this.misbehaviourCount--;
    return true;
  }

  /** Removes the tenth of the misbehaviour bans that would end first. */
  private thinOut(): void {
    const bans = [...this.all()].filter(({ reason }) => reason === 'node misbehaving');
    bans.sort((a, b) => a.untilSec - b.untilSec);
    for (const { subnet } of bans.slice(0, Math.ceil(bans.length / 10))) this.drop(subnet);
    this.deps.log.warn(`More than ${MAX_MISBEHAVIOUR_BANS} peers are banned; the oldest bans were lifted`);
  }

  /** Loads the list from the file. The list stays empty if the file is missing or corrupt. */
  async load(): Promise<void> {
    const { path, magic } = this.options;
    const { log } = this.deps;
    try {
      const content = await readCheckedFile(path, magic, MAX_FILE_BYTES);
      if (content === null) {
        log.debug('net', `${path} does not exist`);
        this.isDirty = true;
        return;
      }
      const bans = parseBans(content);
      for (const ban of bans) this.put(ban);
      this.sweep();
      log.debug('net', `Loaded ${bans.length} banned node ips/subnets from banlist.dat`);
    } catch (error) {
      if (!(error instanceof ReadError) && systemErrorCode(error) === null) throw error;
      this.isDirty = true;
      log.info(`Invalid banlist.dat (${(error as Error).message}); recreating`);
      const notice = quarantine(path, error, 'All bans are removed.');
      if (this.deps.warn) this.deps.warn(notice);
      else log.warn(notice);
    }
  }

  /** Writes the list if it has changed. Rejects on a disk error. */
  save(): Promise<void> {
    return this.queue.run(async () => {
      const bans = this.list();
      if (!this.isDirty) return;
      this.isDirty = false;
      try {
        await writeCheckedFile(this.options.path, this.options.magic, formatBans(bans));
      } catch (error) {
        this.isDirty = true;
        throw error;
      }
      this.deps.log.debug('net', `Flushed ${bans.length} banned node ips/subnets to banlist.dat`);
    });
  }
}

/** Serializes the bans. Source: the serialization of `banmap_t`. */
function formatBans(bans: readonly Ban[]): Buffer {
  const writer = new Writer();
  writer.compactSize(bans.length);
  for (const { subnet, createdSec, untilSec, reason } of bans) {
    writer.raw(subnet.network).raw(subnet.mask).u8(1);
    writer.i32(ENTRY_VERSION).i64(BigInt(createdSec)).i64(BigInt(untilSec)).u8(BAN_REASONS.indexOf(reason));
  }
  return writer.finish();
}

/**
 * Parses the bans. Throws `ReadError` for malformed content. Bytes after the bans are an error too, because the file may
 * then be another kind of file with the same magic.
 */
function parseBans(content: Buffer): Ban[] {
  const reader = new Reader(content);
  const count = reader.compactSize();
  const bans: Ban[] = [];
  for (let i = 0; i < count; i++) {
    const subnet = Subnet.of(Buffer.from(reader.view(IP_BYTES)), Buffer.from(reader.view(IP_BYTES)));
    const isUsable = reader.u8() !== 0;
    reader.skip(4);
    const createdSec = readTime(reader);
    const untilSec = readTime(reader);
    const reason = BAN_REASONS[reader.u8()] ?? 'unknown';
    if (isUsable) bans.push({ subnet, createdSec, untilSec, reason });
  }
  if (reader.remaining > 0) throw new ReadError(`${reader.remaining} bytes after the end`);
  return bans;
}

/** Reads a time in seconds, limited to the range of safe integers. */
function readTime(reader: Reader): number {
  return Math.min(Math.max(Number(reader.i64()), 0), Number.MAX_SAFE_INTEGER);
}
