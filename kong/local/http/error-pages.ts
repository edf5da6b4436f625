/** Error bodies by media type. Each has two `%s`: the message and the request id. A type without its own template uses JSON. */
export interface ErrorTemplates {
  json: string;
  html?: string;
  xml?: string;
  plain?: string;
}

export interface ErrorPage {
  contentType: string;
  body: string;
  /** True for nginx's own page, whose length is sent before `Connection`. */
  isNginxOwn?: boolean;
}

/** The headers that decide the media type of an error body. */
export interface ErrorAudience {
  accept: string | undefined;
  contentType: string | undefined;
  requestId: string;
}

/** The JSON of a Kong 3.9 without `error_template_json`. */
export const DEFAULT_TEMPLATE = '{\n  "message":"%s",\n  "request_id":"%s"\n}';

/** Kong's texts for statuses that nginx raises. 494 is "header too large" and is sent as 400. */
const NGINX_TEXTS: Record<number, string> = {
  400: 'Bad request',
  404: 'Not found',
  405: 'Method not allowed',
  408: 'Request timeout',
  411: 'Length required',
  412: 'Precondition failed',
  413: 'Payload too large',
  414: 'URI too long',
  417: 'Expectation failed',
  494: 'Request header or cookie too large',
  500: 'An unexpected error occurred',
  502: 'An invalid response was received from the upstream server',
  503: 'The upstream server is currently unavailable',
  504: 'The upstream server is timing out',
};

/** Statuses for which Kong's nginx has no `error_page`: nginx sends its own page, whatever the templates are. */
const NGINX_PAGES: Readonly<Record<number, string>> = { 501: 'Not Implemented', 505: 'HTTP Version Not Supported' };

type Format = keyof ErrorTemplates;

const CONTENT_TYPES: Record<Format, string> = {
  json: 'application/json; charset=utf-8',
  html: 'text/html; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  plain: 'text/plain; charset=utf-8',
};

const FORMAT_OF: Record<string, Format> = {
  'text/html': 'html',
  'application/json': 'json',
  'text/plain': 'plain',
  'application/xml': 'xml',
  'application/*': 'json',
  'text/*': 'plain',
  '*/*': 'json',
};

/** Error bodies by Accept, from the templates that kong.conf names. */
export class ErrorPages {
  constructor(
    private readonly templates: ErrorTemplates,
    /** kong.conf `error_default_type`: the type if the client requests none and nginx raised the error. */
    private readonly defaultType: string,
  ) {}

  /** An error that Kong itself raises (no route, plugin failure): the best type of the Accept list, JSON by default. */
  fromKong(message: string, audience: ErrorAudience): ErrorPage {
    return this.fill(preferredFormat(audience.accept), message, audience.requestId);
  }

  /** An error that nginx raises (bad request, upstream failure): the whole Accept, else Content-Type, else the default type. */
  fromNginx(status: number, audience: ErrorAudience): ErrorPage {
    const reason = NGINX_PAGES[status];
    if (reason !== undefined) return nginxPage(`${String(status)} ${reason}`);
    const wanted = audience.accept ?? audience.contentType ?? this.defaultType;
    const message = NGINX_TEXTS[status] ?? `The upstream server responded with ${String(status)}`;
    return this.fill(formatOf(wanted) ?? 'json', message, audience.requestId);
  }

  private fill(wanted: Format, message: string, requestId: string): ErrorPage {
    const format = this.templates[wanted] === undefined ? 'json' : wanted;
    let turn = 0;
    const body = (this.templates[format] ?? this.templates.json).replace(/%[s%]/g, (mark) => {
      if (mark === '%%') return '%';
      turn += 1;
      return turn === 1 ? message : requestId;
    });
    return { contentType: CONTENT_TYPES[format], body };
  }
}

function nginxPage(title: string): ErrorPage {
  const lines = [
    '<html>',
    `<head><title>${title}</title></head>`,
    '<body>',
    `<center><h1>${title}</h1></center>`,
    '</body>',
    '</html>',
    '',
  ];
  return { contentType: 'text/html; charset=UTF-8', body: lines.join('\r\n'), isNginxOwn: true };
}

function formatOf(mediaType: string): Format | undefined {
  return FORMAT_OF[(mediaType.split(';')[0] ?? '').trim()];
}

function preferredFormat(accept: string | undefined): Format {
  let best: Format = 'json';
  let bestQuality = 0;
  for (const entry of (accept ?? '').split(',')) {
    const mediaType = /^\s*((?:[a-z0-9][a-z0-9!#$&^_+.-]+|\*)\/(?:[a-z0-9][a-z0-9!#$&^_+.-]+|\*))/i.exec(entry)?.[1];
    if (mediaType === undefined) continue;
    const quality = Number(/;\s*q=(1(?:\.0{0,3})?|0(?:\.\d{0,3})?)/i.exec(entry)?.[1] ?? 1);
    if (quality <= bestQuality) continue;
    bestQuality = quality;
    best = formatOf(mediaType) ?? 'json';
  }
  return best;
}
