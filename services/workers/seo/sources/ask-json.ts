import { type z } from 'zod';
import { type UpstreamClient, type UpstreamRequest } from '../../../kit/upstream/upstream-client';
import { failedStatus, SourceFailed } from './source-failed';

export type JsonClient = Pick<UpstreamClient, 'request'>;

function parse<Schema extends z.ZodType>(bytes: Buffer, schema: Schema): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    throw new SourceFailed('bad_response', error);
  }
}

/**
 * Sends one query to a JSON API.
 * @throws SourceFailed on a status outside 2xx and on a body that does not fit the schema; ServiceError when there was no exchange
 */
export async function askJson<Schema extends z.ZodType>(
  client: JsonClient,
  request: UpstreamRequest,
  schema: Schema,
): Promise<z.output<Schema>> {
  const { status, bytes } = await client.request({ ...request, headers: { accept: 'application/json', ...request.headers } });
  if (status < 200 || status > 299) throw failedStatus(status);
  return parse(bytes, schema);
}
