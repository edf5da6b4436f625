import { hashApiKey, isPlausibleKey } from '../core/api-key';
import { judgeFormKey, KEY_PARAMETER, locateKey, type KeySearch } from '../core/credential-location';
import { isForm, readFormField } from '../core/form-body';
import { type AccessLayerDeps, type AccessRequest, type Denial } from './access-request';

/** Step 1: finds the key in the request and its record in the store. Whether the record admits anything is the next step's question. */
export async function resolveKey(request: AccessRequest, deps: AccessLayerDeps): Promise<Denial | undefined> {
  let search = locateKey(request.headers, request.rawQuery, request.config.keyIn);
  if (search.status === 'missing' && mayHoldFormKey(request)) search = await searchForm(request, deps);
  if (search.status === 'ambiguous') return { code: 'ambiguous_key' };
  if (search.status === 'missing') return missingKey(request);
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

/** A body of unknown length is read too: Kong buffers it anyway before it goes on. */
function mayHoldFormKey(request: AccessRequest): boolean {
  if (!request.config.keyIn.has('form') || !isForm(header(request, 'content-type'))) return false;
  const length = header(request, 'content-length');
  return length === '' ? header(request, 'transfer-encoding') !== '' : Number(length) <= request.config.formKeyMaxBytes;
}

async function searchForm(request: AccessRequest, deps: AccessLayerDeps): Promise<KeySearch> {
  const { formKeyMaxBytes } = request.config;
  const raw = await request.readBody();
  const body = 'content' in raw ? raw.content : await deps.readBodyFile(raw.filePath, formKeyMaxBytes);
  if (body === undefined || body.length > formKeyMaxBytes) return { status: 'missing' };
  const field = readFormField(header(request, 'content-type'), body, KEY_PARAMETER);
  const search = judgeFormKey(field.values);
  if (search.status === 'found') request.strippedBody = field.remove();
  return search;
}

function missingKey(request: AccessRequest): Denial {
  const { keyIn, formKeyMaxBytes } = request.config;
  if (keyIn.size === 1 && keyIn.has('x-api-key')) {
    return { code: 'key_missing', detail: 'This product takes the API key in the X-API-Key header only.' };
  }
  if (Number(header(request, 'content-length')) > formKeyMaxBytes && isForm(header(request, 'content-type'))) {
    return {
      code: 'key_missing',
      detail: `No API key in the headers or the query; forms over ${formKeyMaxBytes} bytes are not searched for one. Send the key in a header.`,
    };
  }
  return { code: 'key_missing' };
}
