/** The node's clock: the system's, unless a test sets another time (`-mocktime`, `setmocktime`). */
export class AdjustedClock {
  private mockSec: number;
  /** The offset in seconds of the peers' time from ours; set once there are peers. */
  peersOffsetSec: () => number = () => 0;

  constructor(mockSec: number) {
    this.mockSec = mockSec;
  }

  nowSec(): number {
    return this.mockSec > 0 ? this.mockSec : Math.floor(Date.now() / 1000);
  }

  /** The network's time: our time adjusted by the peers. Source: `GetAdjustedTime`. */
  adjustedSec(): number {
    return this.nowSec() + this.peersOffsetSec();
  }

  /** 0 returns to the system's clock. */
  setMock(sec: number): void {
    this.mockSec = sec;
  }
}
