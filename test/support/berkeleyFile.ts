export const PAGE_BYTES = 512;
const MAGIC = 0x00053162;

/** Writes a Berkeley DB file page by page. */
export class BerkeleyFile {
  readonly pages: Buffer[] = [];
  private readonly isLittleEndian: boolean;

  constructor(isLittleEndian: boolean) {
    this.isLittleEndian = isLittleEndian;
  }

  u16(page: Buffer, value: number, at: number): void {
    if (this.isLittleEndian) page.writeUInt16LE(value, at);
    else page.writeUInt16BE(value, at);
  }

  u32(page: Buffer, value: number, at: number): void {
    if (this.isLittleEndian) page.writeUInt32LE(value, at);
    else page.writeUInt32BE(value, at);
  }

  page(type: number): { number: number; page: Buffer } {
    const page = Buffer.alloc(PAGE_BYTES);
    const number = this.pages.push(page) - 1;
    this.u32(page, number, 8);
    page[25] = type;
    return { number, page };
  }

  meta(flags = 0): { number: number; setRoot: (root: number) => void } {
    const { number, page } = this.page(9);
    this.u32(page, MAGIC, 12);
    this.u32(page, 9, 16);
    this.u32(page, PAGE_BYTES, 20);
    this.u32(page, flags, 48);
    return { number, setRoot: (root) => this.u32(page, root, 88) };
  }

  /** A value above the maximum size of an item is stored in overflow pages. */
  private item(bytes: Buffer, isDeleted: boolean): Buffer {
    const mark = isDeleted ? 0x80 : 0;
    if (bytes.length <= 100) {
      const item = Buffer.alloc(3 + bytes.length);
      this.u16(item, bytes.length, 0);
      item[2] = 1 | mark;
      bytes.copy(item, 3);
      return item;
    }
    let first = 0;
    let before: Buffer | null = null;
    for (let at = 0; at < bytes.length; at += PAGE_BYTES - 26) {
      const { number, page } = this.page(7);
      const part = bytes.subarray(at, at + PAGE_BYTES - 26);
      this.u16(page, part.length, 22);
      part.copy(page, 26);
      if (before === null) first = number;
      else this.u32(before, number, 16);
      before = page;
    }
    const item = Buffer.alloc(12);
    item[2] = 3 | mark;
    this.u32(item, first, 4);
    this.u32(item, bytes.length, 8);
    return item;
  }

  private fill(page: Buffer, items: readonly Buffer[]): void {
    this.u16(page, items.length, 20);
    let end = PAGE_BYTES;
    items.forEach((item, i) => {
      end -= item.length;
      item.copy(page, end);
      this.u16(page, end, 26 + 2 * i);
    });
    if (end <= 26 + 2 * items.length) throw new Error('a page is too full');
  }

  leaf(rows: readonly (readonly [Buffer, Buffer, boolean?])[]): number {
    const { number, page } = this.page(5);
    this.fill(
      page,
      rows.flatMap(([key, value, isDeleted = false]) => [
        this.item(key, isDeleted),
        this.item(value, isDeleted),
      ]),
    );
    return number;
  }

  internal(children: readonly number[]): number {
    const { number, page } = this.page(3);
    this.fill(
      page,
      children.map((child) => {
        const item = Buffer.alloc(12);
        item[2] = 1;
        this.u32(item, child, 4);
        return item;
      }),
    );
    return number;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.pages);
  }
}

/** A file with a database `main`, as in wallet files, with one leaf page for every few rows. */
export function berkeleyWallet(rows: readonly (readonly [Buffer, Buffer])[]): Buffer {
  const file = new BerkeleyFile(true);
  const master = file.meta(0x20);
  const main = file.meta();
  const place = Buffer.alloc(4);
  place.writeUInt32BE(main.number, 0);
  master.setRoot(file.leaf([[Buffer.from('main'), place]]));
  const sorted = [...rows].sort(([a], [b]) => Buffer.compare(a, b));
  const leaves: number[] = [];
  for (let at = 0; at < sorted.length; at += 2) leaves.push(file.leaf(sorted.slice(at, at + 2)));
  let level = leaves;
  while (level.length > 1) {
    const above: number[] = [];
    for (let at = 0; at < level.length; at += 20) above.push(file.internal(level.slice(at, at + 20)));
    level = above;
  }
  main.setRoot(level[0]!);
  return file.bytes;
}
