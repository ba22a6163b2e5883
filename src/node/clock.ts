/** The node's clock: the system clock, unless a test sets a fixed time (`-mocktime`, `setmocktime`). */
export class AdjustedClock {
  private mockSec: number;
  /** Returns the offset in seconds between the clocks of the peers and of this node. Set when the peer network is created. */
  peersOffsetSec: () => number = () => 0;

  constructor(mockSec: number) {
    this.mockSec = mockSec;
  }

  nowSec(): number {
    return this.mockSec > 0 ? this.mockSec : Math.floor(Date.now() / 1000);
  }

  /** Network-adjusted time: the time of this node plus the offset of the peers. Source: `GetAdjustedTime`. */
  adjustedSec(): number {
    return this.nowSec() + this.peersOffsetSec();
  }

  /** Sets a fixed Unix time; 0 restores the system clock. */
  setMock(sec: number): void {
    this.mockSec = sec;
  }
}
