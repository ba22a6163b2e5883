/** Kinds of streams, and media types by file extension. Source: lbry-sdk lbry/schema/mime_types.py. */

export type StreamKind = 'video' | 'audio' | 'image' | 'document' | 'binary' | 'model';

export interface MediaType {
  readonly mediaType: string;
  readonly kind: StreamKind;
}

/** File extensions by kind of stream and media type. A media type may belong to several kinds. */
const TABLE: Readonly<Record<StreamKind, Readonly<Record<string, string>>>> = {
  video: {
    'video/x-msvideo': 'avi',
    'video/mpeg': 'm1v mpa mpe mpeg mpg',
    'application/x-mpegurl': 'm3u8',
    'video/quicktime': 'mov qt',
    'video/x-sgi-movie': 'movie',
    'video/mp4': 'mp4',
    'application/dash+xml': 'mpd',
    'video/mp2t': 'ts',
    'video/webm': 'webm',
    'video/m4v': 'm4v',
    'video/x-matroska': 'mkv',
    'video/ogg': 'ogv ogg',
    'video/x-ms-wmv': 'wmv',
  },
  audio: {
    'audio/x-aiff': 'aif aifc aiff',
    'audio/basic': 'au snd',
    'application/x-mpegurl': 'm3u',
    'audio/mpeg': 'mp2 mp3',
    'audio/x-pn-realaudio': 'ra',
    'application/x-pn-realaudio': 'ram',
    'audio/x-wav': 'wav',
    'audio/flac': 'flac',
    'audio/mp4': 'm4a',
    'audio/midi': 'mid midi',
    'audio/ogg': 'oga',
  },
  image: {
    'application/postscript': 'ai',
    'image/bmp': 'bmp',
    'image/gif': 'gif',
    'image/vnd.microsoft.icon': 'ico',
    'image/ief': 'ief',
    'image/jpeg': 'jpe jpeg jpg',
    'image/x-portable-bitmap': 'pbm',
    'image/x-portable-graymap': 'pgm',
    'image/png': 'png',
    'image/x-portable-anymap': 'pnm',
    'image/x-portable-pixmap': 'ppm',
    'image/x-cmu-raster': 'ras',
    'image/x-rgb': 'rgb',
    'image/svg+xml': 'svg',
    'image/tiff': 'tif tiff',
    'image/x-xbitmap': 'xbm',
    'image/x-xpixmap': 'xpm',
    'image/x-xwindowdump': 'xwd',
    'image/pict': 'pct pic pict',
  },
  document: {
    'text/plain': 'bat c h ksh pl txt',
    'text/css': 'css',
    'text/csv': 'csv',
    'application/msword': 'doc dot wiz',
    'message/rfc822': 'eml mht mhtml nws',
    'application/postscript': 'eps ps',
    'application/epub+zip': 'epub',
    'text/x-setext': 'etx',
    'text/html': 'htm html',
    'application/javascript': 'js',
    'application/json': 'json',
    'application/x-troff-man': 'man',
    'text/markdown': 'markdown md',
    'application/pdf': 'pdf',
    'application/vnd.ms-powerpoint': 'pot ppa pps ppt pwz',
    'text/x-python': 'py',
    'text/richtext': 'rtx',
    'text/x-sgml': 'sgm sgml',
    'application/x-sh': 'sh',
    'text/tab-separated-values': 'tsv',
    'text/x-vcard': 'vcf',
    'text/vtt': 'vtt',
    'application/xml': 'wsdl xpdl xsl',
    'application/vnd.ms-excel': 'xlb xls',
    'text/xml': 'xml',
    'application/vnd.comicbook-rar': 'cbr',
    'application/vnd.comicbook+zip': 'cbz',
    'application/x-ext-lbry': 'lbry',
    'application/x-mobipocket-ebook': 'mobi prc',
    'application/rtf': 'rtf',
    'text/xul': 'xul',
  },
  binary: {
    'application/octet-stream': 'a bin dll exe o so',
    'application/x-bcpio': 'bcpio',
    'application/x-netcdf': 'cdf nc',
    'application/x-cpio': 'cpio',
    'application/x-csh': 'csh',
    'application/x-dvi': 'dvi',
    'application/x-gtar': 'gtar',
    'application/x-hdf': 'hdf',
    'application/x-latex': 'latex',
    'application/x-troff-me': 'me',
    'application/x-mif': 'mif',
    'application/x-troff-ms': 'ms',
    'video/iso.segment': 'm4s',
    'application/oda': 'oda',
    'application/x-pkcs12': 'p12 pfx',
    'application/pkcs7-mime': 'p7c',
    'application/x-python-code': 'pyc pyo',
    'application/xml': 'rdf',
    'application/x-troff': 'roff t tr',
    'application/x-shar': 'shar',
    'application/x-wais-source': 'src',
    'application/x-sv4cpio': 'sv4cpio',
    'application/x-sv4crc': 'sv4crc',
    'application/x-shockwave-flash': 'swf',
    'application/x-tar': 'tar',
    'application/x-tcl': 'tcl',
    'application/x-tex': 'tex',
    'application/x-texinfo': 'texi texinfo',
    'application/x-ustar': 'ustar',
    'application/zip': 'zip',
  },
  model: {
    'model/iges': 'iges',
    'application/octet-stream': 'obj',
    'model/stl': 'stl',
  },
};

const FALLBACK: MediaType = { mediaType: 'application/octet-stream', kind: 'binary' };

/** For a file extension detected from the content, the other extension that a file name may have for such content. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['zip', 'cbz'],
  ['rar', 'cbr'],
  ['ar', 'a'],
]);

const byExtension = new Map<string, MediaType>();
for (const [kind, types] of Object.entries(TABLE))
  for (const [mediaType, extensions] of Object.entries(types))
    for (const extension of extensions.split(' '))
      byExtension.set(extension, { mediaType, kind: kind as StreamKind });

const kinds = new Map<string, StreamKind>();
for (const extension of [...byExtension.keys()].sort()) {
  const { mediaType, kind } = byExtension.get(extension)!;
  if (!kinds.has(mediaType)) kinds.set(mediaType, kind);
}

/** Extension of a file name: the lower-case text after the last dot. Leading dots do not count. */
export function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/^\.+/, '');
  const dot = name.lastIndexOf('.');
  if (dot < 0) return '';
  const extension = name.slice(dot + 1).trimEnd();
  return extension.toLowerCase();
}

/** Media type of a file, by the extension of its name, or by the extension that its content indicates. */
export function mediaTypeOfFile(path: string, contentExtension: string | null = null): MediaType {
  const named = extensionOf(path);
  const isKept = contentExtension === null || SYNONYMS.get(contentExtension) === named;
  const extension = isKept ? named : contentExtension;
  if (extension === '') return FALLBACK;
  return byExtension.get(extension) ?? { mediaType: `application/x-ext-${extension}`, kind: 'binary' };
}

/**
 * Kind of stream for a media type. If the media type has several kinds, the kind of its alphabetically first extension
 * counts.
 */
export function streamKindOf(mediaType: string): StreamKind {
  return kinds.get(mediaType) ?? 'binary';
}
