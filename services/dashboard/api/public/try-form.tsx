import { type ReactNode } from 'react';
import { type Operation } from './operations';

/** A call as the script of the page makes it. */
export interface TryCall {
  readonly product: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** What is uploaded, under this field of a form. */
  readonly file?: { readonly field: string; readonly filename: string; readonly contentType: string; readonly base64: string };
}

/** What the example sends, by name, for a query. */
function queryExamples({ parameters = [] }: Operation): readonly { name: string; value: string; isRequired: boolean }[] {
  return parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example, required }) => ({ name, value: example === undefined ? '' : textOf(example), isRequired: required ?? false }));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function fileField({ requestBody }: Operation): string {
  return Object.keys(requestBody?.content['multipart/form-data']?.schema?.properties ?? {})[0] ?? 'file';
}

/** Fields with the example in them and a button; a script sends the call, so that without one none of it is shown. */
export function TryForm({ operation, label }: { readonly operation: Operation; readonly label: string }): ReactNode {
  const { operationId, method, path, tags, requestBody } = operation;
  if (method !== 'GET' && method !== 'POST') return null;
  const exampleFile = operation['x-exampleFile'];
  const example = requestBody?.content['application/json']?.example;
  const call: TryCall = {
    product: tags[0],
    method,
    path,
    ...(exampleFile && { file: { field: fileField(operation), ...exampleFile } }),
  };
  return (
    <form className="try" data-call={JSON.stringify(call)} aria-label={`Try ${method} ${path}`} hidden>
      {queryExamples(operation).map(({ name, value, isRequired }) => (
        <label key={name}>
          <span>{name}</span>
          <input name={name} defaultValue={value} required={isRequired} autoComplete="off" spellCheck={false} />
        </label>
      ))}
      {exampleFile && <p className="quiet">Uploads the example {exampleFile.filename}.</p>}
      {!exampleFile && method === 'POST' && (
        <label className="wide">
          <span>JSON body</span>
          <textarea name="body" rows={6} spellCheck={false} defaultValue={JSON.stringify(example ?? {}, undefined, 2)} />
        </label>
      )}
      <button className="button" type="submit">
        {label}
      </button>
      <div className="outcome" role="status" id={`${operationId}-outcome`} />
    </form>
  );
}
