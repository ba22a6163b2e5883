/** A header tree in plain arrays, for tests. */
import {
  medianTimePast,
  NO_HEADER,
  type HeaderId,
  type HeaderTree,
} from '../../../../src/consensus/headerTree.js';

interface Row {
  parent: HeaderId;
  height: number;
  timeSec: number;
  bits: number;
  version: number;
}

export class MemoryHeaders implements HeaderTree {
  private readonly rows: Row[] = [];

  add(parent: HeaderId, fields: { timeSec: number; bits?: number; version?: number }): HeaderId {
    const height = parent === NO_HEADER ? 0 : this.heightOf(parent) + 1;
    this.rows.push({
      parent,
      height,
      timeSec: fields.timeSec,
      bits: fields.bits ?? 0,
      version: fields.version ?? 1,
    });
    return this.rows.length - 1;
  }

  heightOf(id: HeaderId): number {
    return this.rows[id]!.height;
  }
  parentOf(id: HeaderId): HeaderId {
    return this.rows[id]!.parent;
  }
  ancestorOf(id: HeaderId, height: number): HeaderId {
    if (height < 0 || height > this.heightOf(id)) return NO_HEADER;
    let at = id;
    while (this.heightOf(at) > height) at = this.parentOf(at);
    return at;
  }
  timeOf(id: HeaderId): number {
    return this.rows[id]!.timeSec;
  }
  bitsOf(id: HeaderId): number {
    return this.rows[id]!.bits;
  }
  versionOf(id: HeaderId): number {
    return this.rows[id]!.version;
  }
  medianTimeOf(id: HeaderId): number {
    return medianTimePast(this, id);
  }
}
