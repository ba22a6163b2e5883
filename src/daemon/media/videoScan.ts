/**
 * Checks whether a video can be streamed, from the output of ffprobe and ffmpeg. Messages are lbry-sdk's. Source: lbry-sdk
 * lbry/file_analysis.py `VideoFileAnalyzer`.
 */

/** A stream in the output of `ffprobe -show_streams`. */
export interface ScannedStream {
  readonly codec_type?: string;
  readonly codec_name?: string;
  readonly codec_long_name?: string;
  readonly pix_fmt?: string;
  readonly sample_rate?: string;
  readonly width?: number;
  readonly height?: number;
}

/** Parsed output of `ffprobe -show_format -show_streams`. */
export interface VideoScan {
  readonly format: {
    readonly format_name: string;
    readonly format_long_name?: string;
    readonly duration: string;
    readonly bit_rate?: string;
  };
  readonly streams: readonly ScannedStream[];
}

/** Minimum duration of a video in seconds. Files with a shorter duration count as images. Source: `_get_scan_data`. */
const LEAST_DURATION_SEC = 0.1;

/** Parses the output of ffprobe; null if the file is not a video. */
export function parseScan(text: string): VideoScan | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const { format, streams } = (parsed ?? {}) as Partial<VideoScan>;
  if (typeof format?.format_name !== 'string') return null;
  const duration = Number.parseFloat(format.duration ?? '');
  if (!(duration >= LEAST_DURATION_SEC)) return null;
  return { format, streams: Array.isArray(streams) ? streams : [] };
}

const includesAny = (text: string | undefined, allowed: readonly string[]): boolean =>
  (text ?? '').split(',').some((part) => allowed.includes(part));

const streamsOf = ({ streams }: VideoScan, type: 'video' | 'audio'): ScannedStream[] =>
  streams.filter((stream) => stream.codec_type === type);

const actual = ({ codec_name: name, codec_long_name: long }: ScannedStream): string =>
  `Actual: ${name} [${long}]`;

export function containerProblem(scan: VideoScan): string {
  const { format_name: name, format_long_name: long } = scan.format;
  if (!includesAny(name, ['webm', 'mp4', '3gp', 'ogg']))
    return `Container format is not in the approved list of WebM, MP4. Actual: ${name} [${long}]`;
  if (!includesAny(name, ['matroska'])) return '';
  const video = streamsOf(scan, 'video').find(
    ({ codec_name: codec }) => !includesAny(codec, ['vp8', 'vp9', 'av1']),
  );
  if (video) return `WebM format requires VP8/9 or AV1 video. ${actual(video)}`;
  const audio = streamsOf(scan, 'audio').find(
    ({ codec_name: codec }) => !includesAny(codec, ['vorbis', 'opus']),
  );
  return audio ? `WebM format requires Vorbis or Opus audio. ${actual(audio)}` : '';
}

export function videoProblem(scan: VideoScan): string {
  for (const stream of streamsOf(scan, 'video')) {
    const { codec_name: codec, pix_fmt: format } = stream;
    if (!includesAny(codec, ['h264', 'vp8', 'vp9', 'av1', 'theora']))
      return `Video codec is not in the approved list of H264, VP8, VP9, AV1, Theora. ${actual(stream)}`;
    if (includesAny(codec, ['h264']) && format !== 'yuv420p')
      return `Video codec is H264, but its pixel format does not match the approved yuv420p. Actual: ${format}`;
  }
  return '';
}

export const SAMPLE_RATE_PROBLEM = 'Sample rate out of range';
const MAX_SAMPLE_RATE = 48_000;

export function audioProblem(scan: VideoScan): string {
  for (const stream of streamsOf(scan, 'audio')) {
    if (!includesAny(stream.codec_name, ['aac', 'mp3', 'flac', 'vorbis', 'opus']))
      return `Audio codec is not in the approved list of AAC, FLAC, MP3, Vorbis, and Opus. ${actual(stream)}`;
    if (Number(stream.sample_rate) > MAX_SAMPLE_RATE) return SAMPLE_RATE_PROBLEM;
  }
  return '';
}

/**
 * Message about a bit rate above `maximum`; empty if the rate is allowed. `maximum` is in bits per second; 0 or less allows
 * any rate.
 */
export function bitRateProblem({ format }: VideoScan, sizeBytes: number, maximum: number): string {
  if (maximum <= 0) return '';
  // QUIRK: if the file does not state a bit rate, the computed rate is in bytes instead of bits per second. Source:
  // `_verify_bitrate`.
  const rate = format.bit_rate === undefined ? sizeBytes / Number(format.duration) : Number(format.bit_rate);
  if (!(rate > maximum)) return '';
  return (
    `The bit rate is above the configured maximum. Actual: ${rate / 1e6} Mbps; ` +
    `Allowed max: ${maximum / 1e6} Mbps`
  );
}

/**
 * Message if a player cannot start before the video is downloaded completely, else empty. `debugText` is the output of
 * `ffprobe -v debug`.
 */
export function fastStartProblem({ format }: VideoScan, debugText: string): string {
  if (includesAny(format.format_name, ['webm', 'ogg'])) return '';
  const seeks = /Before avformat_find_stream_info.+?\s+seeks:(\d+)\s+/.exec(debugText)?.[1];
  return seeks !== undefined && Number(seeks) !== 0
    ? 'Video stream descriptors are not at the start of the file (the faststart flag was not used).'
    : '';
}

/** Message about a wrong volume, else empty. `text` is the output of ffmpeg's filter volumedetect. */
export function volumeProblem(text: string): string {
  const valueOf = (name: string): number =>
    Number.parseFloat(new RegExp(`${name}_volume:\\s+([-+]?\\d*\\.\\d+|\\d+)`).exec(text)?.[1] ?? '');
  const [mean, max] = [valueOf('mean'), valueOf('max')];
  return max < -5 && mean < -22
    ? `Audio is at least five dB lower than prime. Actual max: ${max}, mean: ${mean}`
    : '';
}

/** Returns the largest width and the largest height of the video streams; 0 without a video stream. */
export function dimensionsOf(scan: VideoScan): { readonly width: number; readonly height: number } {
  const video = streamsOf(scan, 'video');
  const largest = (field: 'width' | 'height'): number =>
    Math.max(0, ...video.map((stream) => Number(stream[field] ?? 0)));
  return { width: largest('width'), height: largest('height') };
}

/**
 * Extension of the best container for the given encoder, or for the unchanged video stream if no encoder is given. Source:
 * `_get_best_container_extension`.
 */
export function bestExtension(scan: VideoScan, encoder: string | null): 'mp4' | 'webm' | 'ogv' {
  if (encoder !== null) {
    if (encoder.includes('theora')) return 'ogv';
    return /vp[89x]|av1/.test(encoder.split(' ', 1)[0]!) ? 'webm' : 'mp4';
  }
  for (const { codec_name: codec } of streamsOf(scan, 'video')) {
    if (includesAny(codec, ['theora'])) return 'ogv';
    if (includesAny(codec, ['vp8', 'vp9', 'av1'])) return 'webm';
  }
  return 'mp4';
}

/** Source: `_compute_crf`. */
export const constantRateFactor = (scan: VideoScan): number =>
  Math.trunc(40 - 0.011 * Math.max(240, dimensionsOf(scan).height));
