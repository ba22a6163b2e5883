/**
 * Line charts over block heights, drawn on the server as SVG. They need no script. Pages also show the data as a sentence
 * and a table.
 */
import { scaleLinear } from 'd3-scale';
import { area, curveLinear, curveStepAfter, line } from 'd3-shape';
import type { VNode } from 'preact';
import { integerText, prefixedText } from './format.js';

export interface ChartPoint {
  readonly height: number;
  readonly value: number;
}

interface ChartProps {
  /** Text alternative of the chart for screen readers. */
  readonly label: string;
  readonly points: readonly ChartPoint[];
  /** Whether the value is drawn as constant up to the next point. Otherwise straight lines connect the points. */
  readonly isStep?: boolean;
  /** Ranges of heights that are shown below the line in two alternating colours. */
  readonly bands?: readonly { readonly from: number; readonly to: number }[];
  /** Heights that have a mark below the line. */
  readonly marks?: readonly number[];
  /** Height of the drawing in its units. Its width is 960 units. */
  readonly tall?: number;
}

const WIDTH = 960;
const MARGIN = { left: 84, right: 12, top: 12, bottom: 32 } as const;
const TICKS = 5;
const MARK = 6;

export function Chart({ label, points, isStep = false, bands, marks = [], tall = 320 }: ChartProps): VNode {
  const heights = points.map(({ height }) => height);
  const [right, bottom] = [WIDTH - MARGIN.right, tall - MARGIN.bottom];
  const x = scaleLinear([Math.min(...heights), Math.max(...heights)], [MARGIN.left, right]);
  const y = scaleLinear([0, Math.max(...points.map(({ value }) => value)) || 1], [bottom, MARGIN.top]).nice(
    TICKS,
  );
  const curve = isStep ? curveStepAfter : curveLinear;
  const at = (point: ChartPoint): number => x(point.height);
  const valueAt = (point: ChartPoint): number => y(point.value);
  const outline = line<ChartPoint>(at, valueAt).curve(curve)([...points]) ?? '';
  const filled = area<ChartPoint>(at, bottom, valueAt).curve(curve)([...points]) ?? '';
  const rounded = (path: string): string =>
    path.replaceAll(/-?\d+\.\d+/g, (number) => String(Math.round(Number(number) * 10) / 10));
  return (
    <div class="scroller" role="region" aria-label={`Chart: ${label}`} tabIndex={0}>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${tall}`} role="img" aria-label={label}>
        {bands?.map(({ from, to }) => (
          <rect
            class="band"
            x={x(from)}
            y={MARGIN.top}
            width={Math.max(1, x(to) - x(from))}
            height={bottom - MARGIN.top}
          />
        ))}
        {bands === undefined && <path class="area" d={rounded(filled)} />}
        {y.ticks(TICKS).map((tick) => (
          <g>
            <line class="grid" x1={MARGIN.left} x2={right} y1={y(tick)} y2={y(tick)} />
            <text x={MARGIN.left - 8} y={y(tick)} text-anchor="end" dominant-baseline="middle">
              {prefixedText(tick)}
            </text>
          </g>
        ))}
        {x
          .ticks(TICKS)
          .filter(Number.isInteger)
          .map((tick) => (
            <text x={x(tick)} y={tall - 8} text-anchor="middle">
              {integerText(tick)}
            </text>
          ))}
        {marks.map((height) => (
          <line class="tick" x1={x(height)} x2={x(height)} y1={bottom} y2={bottom + MARK} />
        ))}
        <path class="line" d={rounded(outline)} fill="none" />
      </svg>
    </div>
  );
}
