import { hashApiKey, isPlausibleKey } from '../core/access/api-key';
import { judgeFormKey, KEY_PARAMETER, locateKey, type KeySearch } from '../core/access/credential-location';
import { isForm, readFormField } from '../core/access/form-body';
import { EventOverError } from '../core/access/kong-pdk';
import { type KeyPlace } from '../core/key-places';
import { LINK_PARAMETER, type AccessLink } from '../core/proof/access-link';
import { parseIpAddress } from '../core/access/ip-address';
import { readParameter } from '../core/access/raw-parameters';
import { onlyHeader } from './answer';
import { type AccessLayerDeps, type AccessRequest, type Denial } from './access-request';

/** Why a form was not searched for a key, or not to its end. */
type SkippedForm = 'too-large' | 'no-length' | 'late';

/** Step 1: finds the key in the request and its record in the store. Whether the record admits anything is the next step's question. */
export async function resolveKey(request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  let search = locateKey(request.headers, request.rawQuery, request.config.keyIn);
  let skipped: SkippedForm | undefined;
  if (search.status === 'missing') {
    const links = findLinks(request);
    if (links.length > 0) return resolveLink(links, request, deps);
  }
  if (search.status === 'missing' && request.config.keyIn.has('form') && isForm(header(request, 'content-type'))) {
    const found = await searchForm(request, deps);
    if (typeof found === 'string') skipped = found;
    else search = found;
  }
  if (search.status === 'ambiguous') return { code: 'ambiguous_key' };
  if (search.status === 'missing') return missingKey(request, skipped);
  request.key = search.key;
  request.keyPlace = search.place;
  if (!isPlausibleKey(search.key)) return undefined;
  request.record = await deps.records.findAccessRecord(hashApiKey(search.key));
  return undefined;
}

function header(request: AccessRequest, name: string): string {
  const value = request.headers[name];
  return typeof value === 'string' ? value : '';
}

/**
 * Kong hands over a body only when all of it has arrived. So only a form with a small Content-Length is read: Kong would write a form of
 * unknown length to disk in full.
 */
async function searchForm(request: AccessRequest, deps: AccessLayerDeps): Promise<KeySearch | SkippedForm> {
  const { formKeyMaxBytes, formKeyTimeoutMs } = request.config;
  const length = header(request, 'content-length');
  if (length === '' && header(request, 'transfer-encoding') !== '') return 'no-length';
  if (length === '' || Number(length) === 0) return { status: 'missing' };
  if (!(Number(length) <= formKeyMaxBytes)) return 'too-large';
  const raw = await withinMs(request.readBody().catch(leftEarly), formKeyTimeoutMs);
  if (raw === undefined) return 'late';
  const body = 'content' in raw ? raw.content : await deps.readBodyFile(raw.filePath, formKeyMaxBytes);
  if (body === undefined || body.length > formKeyMaxBytes) return 'too-large';
  const field = readFormField(header(request, 'content-type'), body, KEY_PARAMETER);
  const search = judgeFormKey(field.values);
  if (search.status === 'found') request.strippedBody = field.remove();
  return search;
}

/** A caller who leaves while the form is awaited, or whose connection nginx ends, is not a fault: nobody reads the response. */
function leftEarly(error: unknown): undefined {
  if (!(error instanceof EventOverError)) throw error;
  return undefined;
}

/** Undefined when `work` takes longer; its result is then ignored. */
async function withinMs<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, limitMs, undefined)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const USUAL: Readonly<Record<string, string>> = {
  authorization: 'the header Authorization (Bearer)',
  'x-api-key': 'the header X-API-Key',
  query: 'the parameter api_key',
  form: 'the form field api_key',
};

const nameOf = (place: KeyPlace): string => USUAL[place] ?? place.replace(/^header:/, 'the header ').replace(/^query:/, 'the parameter ');

function missingKey({ config }: AccessRequest, skipped: SkippedForm | undefined): Denial {
  const { keyIn, ownNames, formKeyMaxBytes, formKeyTimeoutMs } = config;
  const header = onlyHeader(config);
  if (header !== undefined) return { code: 'key_missing', detail: `This product takes the API key in the ${header} header only.` };
  if (skipped === undefined) {
    const hasOwn = ownNames.headers.length + ownNames.parameters.length > 0;
    return {
      code: 'key_missing',
      ...(hasOwn && { detail: `Send your API key in one of these places: ${[...keyIn].map(nameOf).join(', ')}.` }),
    };
  }
  const reasons: Record<SkippedForm, string> = {
    'too-large': `forms over ${formKeyMaxBytes} bytes are not searched for one`,
    'no-length': 'forms without Content-Length are not searched for one',
    late: `the form did not arrive within ${formKeyTimeoutMs / 1000} s`,
  };
  return { code: 'key_missing', detail: `No API key in the headers or the query; ${reasons[skipped]}. Send the key in a header.` };
}

/** A link can only read. */
const LINK_METHODS = new Set(['GET', 'HEAD']);

const LINK_DENIALS = {
  forged: { code: 'link_not_valid' },
  expired: { code: 'link_not_valid', detail: 'This link has expired. Make another.' },
  elsewhere: { code: 'link_not_valid', detail: 'This link was made for another address.' },
} as const satisfies Record<string, Denial>;

/** The links of a request without a key. More than one counts as invalid. */
function findLinks({ method, rawQuery }: AccessRequest): readonly string[] {
  return LINK_METHODS.has(method) ? readParameter(rawQuery, LINK_PARAMETER).filter((text) => text.startsWith('tgl_')) : [];
}

/**
 * Step 1 for a link in place of a key: finds the record of the key that the link was made with. From there on the link is judged as that
 * key would be, by its present record.
 */
async function resolveLink(tokens: readonly string[], request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  request.keyPlace = 'link';
  const [token = '', ...more] = tokens;
  if (!deps.links || more.length > 0) return LINK_DENIALS.forged;
  const opened = deps.links.open(token, deps.clock.now() / 1000);
  if (!opened.ok) return LINK_DENIALS[opened.reason];
  const { link } = opened;
  if (!request.config.products.includes(link.product)) return LINK_DENIALS.forged;
  if (!isFor(link, request.callerAddress)) return LINK_DENIALS.elsewhere;
  request.link = link;
  const hash = await deps.links.findKeyHash(link.credentialId);
  request.record = hash === undefined ? undefined : await deps.records.findAccessRecord(hash);
  return undefined;
}

function isFor({ address }: AccessLink, callerAddress: string): boolean {
  return address === undefined || address === parseIpAddress(callerAddress)?.text;
}
