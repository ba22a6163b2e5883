/** The node's clock: the system clock, unless a test sets a fixed time (`-mocktime`, `setmocktime`). */
export class AdjustedClock {
  private mockSec: number;
  /** Returns the offset in seconds between the peers' clocks and ours. Replaced when the peer network exists. */
  peersOffsetSec: () => number = () => 0;

  constructor(mockSec: number) {
    this.mockSec = mockSec;
  }

  nowSec(): number {
    return this.mockSec > 0 ? this.mockSec : Math.floor(Date.now() / 1000);
  }

  /** Network-adjusted time: our time plus the offset of the peers. Source: `GetAdjustedTime`. */
  adjustedSec(): number {
    return this.nowSec() + this.peersOffsetSec();
  }

  /** Sets a fixed Unix time; 0 restores the system clock. */
  setMock(sec: number): void {
    this.mockSec = sec;
  }
}
