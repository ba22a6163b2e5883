/** The node's idea of the time: the system's, unless a test pretends another (`-mocktime`, `setmocktime`). */
export class AdjustedClock {
  private mockSec: number;
  /** How far the peers say that we are behind, in seconds; set once there are any. */
  peersOffsetSec: () => number = () => 0;

  constructor(mockSec: number) {
    this.mockSec = mockSec;
  }

  nowSec(): number {
    return this.mockSec > 0 ? this.mockSec : Math.floor(Date.now() / 1000);
  }

  /** The network's time: ours, corrected by the peers. Source: `GetAdjustedTime`. */
  adjustedSec(): number {
    return this.nowSec() + this.peersOffsetSec();
  }

  /** 0 goes back to the system's clock. */
  setMock(sec: number): void {
    this.mockSec = sec;
  }
}
