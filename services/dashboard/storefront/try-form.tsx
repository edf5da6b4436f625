import { type ReactNode } from 'react';
import { FREE_PLAN } from '../reference/plan-name';
import { type CatalogueProduct, hasSandbox } from '../../../plugins/core/catalogue/catalogue';
import { fieldOf } from '../reference/schema-fields';
import { type FieldSchema } from '../contract/api-document';
import { isObject } from '../../openapi/document-parts';
import { kindOf } from '../../openapi/parameter-style';
import { BODY_FIELD, fieldName, FILE_FIELD, FORM_FIELD, TRIED_METHODS, type TriedParameter, type TryCall } from '../reference/try-call';
import { FROM_BEFORE, type Operation } from './operations';
import { type PageTools } from './page-frame';

/** The dashboard takes requests of 4 MiB from customers and 256 KiB from other readers; base64 makes three bytes four. */
const MAX_FILE_BYTES = { customer: 2_500_000, reader: 180_000 };

/**
 * The callers that this reader may choose. Without a session, or for a member who may not use keys, the sandbox is called with the readers'
 * key.
 */
function callersFor({ isSignedIn, canTry }: Pick<PageTools, 'isSignedIn' | 'canTry'>): readonly string[] {
  return [...(isSignedIn ? ['/api/try'] : []), ...(canTry ? ['/api/public/try'] : [])];
}

function textOf(value: unknown): string {
  if (value === undefined || value === FROM_BEFORE) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

type Form = NonNullable<TryCall['form']>;
const FORMS = ['multipart/form-data', 'application/x-www-form-urlencoded'] as const satisfies readonly Form[];

/** The media type of the body's form, if it has a file or JSON is not accepted. */
function formOf({ requestBody }: Operation): Form | undefined {
  const content = requestBody?.content ?? {};
  const hasFile = Object.values(content['multipart/form-data']?.schema?.properties ?? {}).some(isFile);
  if (content['application/json'] && !hasFile) return undefined;
  return FORMS.find((type) => content[type] !== undefined);
}

const isFile = ({ format }: FieldSchema): boolean => format === 'binary';

/** The field that takes a file, if the operation is tried with one. */
function fileOf(operation: Operation, isSignedIn: boolean): TryCall['file'] {
  const properties = operation.requestBody?.content['multipart/form-data']?.schema?.properties ?? {};
  const field = Object.entries(properties).find(([, each]) => isFile(each))?.[0];
  if (field === undefined) return undefined;
  return { field, mostBytes: MAX_FILE_BYTES[isSignedIn ? 'customer' : 'reader'], example: operation['x-exampleFile'] };
}

/** True if a value must be taken from the response of another call. */
function isLaterStep({ parameters = [], requestBody }: Operation): boolean {
  return [...parameters, ...Object.values(requestBody?.content ?? {})].some(({ example }) =>
    JSON.stringify(example)?.includes(FROM_BEFORE),
  );
}

interface TextFieldProps {
  /** Name of the input; the label is the part's own name. */
  readonly field: string;
  readonly name: string;
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly isMade: boolean;
}

function TextField({ field, name, schema, isRequired, value, isMade }: TextFieldProps): ReactNode {
  return (
    <label>
      <span>
        {name}{' '}
        <span className="quiet">
          {fieldOf(name, schema, isRequired).type}
          {isMade && ', made from the schema'}
        </span>
        {isRequired && <span className="required">required</span>}
      </span>
      <input name={field} defaultValue={textOf(value)} autoComplete="off" spellCheck={false} />
    </label>
  );
}

/** Headers that the browser or the gateway sets. */
const UNSENT_HEADERS = new Set(['accept', 'authorization', 'content-type', 'content-length', 'cookie', 'host', 'x-api-key']);

/** Parameters that a page can send. */
function sentParameters({ parameters = [] }: Operation): NonNullable<Operation['parameters']> {
  return parameters.filter(({ name, in: place }) => !(place === 'header' && UNSENT_HEADERS.has(name.toLowerCase())));
}

/** How the page's script writes the parameter into the call. */
function triedOf({
  name,
  in: place,
  style,
  explode,
  allowReserved,
  isJson,
  schema,
}: NonNullable<Operation['parameters']>[number]): TriedParameter {
  return { name, in: place, style, explode, allowReserved, isJson, kind: kindOf(schema) };
}

/** Most parameters are one text in the query, which the script recognises by the field's name. */
const isNoPlainQuery = ({ in: place, allowReserved, isJson, kind }: TriedParameter): boolean =>
  place !== 'query' || kind !== undefined || allowReserved === true || isJson === true;

function Parameters({ operation }: { readonly operation: Operation }): ReactNode {
  return sentParameters(operation).map((parameter) => {
    const { schema, example, required = false, isMade = false } = parameter;
    const field = fieldName(parameter);
    return <TextField key={field} {...{ field, name: parameter.name, schema, isRequired: required, value: example, isMade }} />;
  });
}

/** The fields of a form except its file. The key is sent separately. */
function FormFields({ media }: { readonly media: NonNullable<Operation['requestBody']>['content'][string] }): ReactNode {
  const { required = [], properties = {} } = media.schema ?? {};
  const { example, isMade = false } = media;
  const values: Readonly<Record<string, unknown>> = isObject(example) ? example : {};
  return Object.entries(properties)
    .filter(([name, schema]) => !isFile(schema) && name !== 'api_key')
    .map(([name, schema]) => {
      const isRequired = required.includes(name);
      const value = isRequired || !isMade ? values[name] : undefined;
      return (
        <TextField key={name} field={FORM_FIELD + name} {...{ name, schema, isRequired, value, isMade: isMade && value !== undefined }} />
      );
    });
}

function FileField({ file: { example, mostBytes } }: { readonly file: NonNullable<TryCall['file']> }): ReactNode {
  return (
    <label className="wide">
      <span>
        File{' '}
        <span className="quiet">
          {example && `${example.filename} unless you choose another, `}at most {mostBytes / 1_000_000} MB
        </span>
      </span>
      <input name={FILE_FIELD} type="file" />
    </label>
  );
}

/** The callers on the page, and the operations that they may call. */
export interface TryTools extends Pick<PageTools, 'isSignedIn' | 'canTry'> {
  readonly isSandbox: boolean;
}

interface TryFormProps {
  readonly operation: Operation;
  readonly tools: TryTools;
}

/** A longer example does not fit on a page. */
const MAX_BODY = 30_000;

function bodyText(example: unknown = {}): string {
  const text = JSON.stringify(example, undefined, 2);
  return text.length > MAX_BODY ? '{}' : text;
}

/** Fields filled with the example, and a button. A script sends the call, so without a script none of this is shown. */
export function TryForm({ operation, tools }: TryFormProps): ReactNode {
  const { method, path, tags, requestBody } = operation;
  const through = callersFor(tools);
  const tried = TRIED_METHODS.find((each) => each === method);
  if (tried === undefined || through.length === 0) return null;
  const form = formOf(operation);
  const file = form === 'multipart/form-data' ? fileOf(operation, tools.isSignedIn) : undefined;
  const parameters = sentParameters(operation).map(triedOf).filter(isNoPlainQuery);
  const call: TryCall = {
    ...{ product: tags[0], method: tried, path, through },
    ...(parameters.length > 0 && { parameters }),
    ...(!tools.isSandbox && { isLive: true }),
    ...(form && { form }),
    ...(file && { file }),
  };
  const media = form && requestBody?.content[form];
  return (
    <form className="try" data-call={JSON.stringify(call)} aria-label={`Try ${method} ${path}`} noValidate hidden>
      {isLaterStep(operation) && (
        <p className="later-step">
          This is a later step of a workflow. Run the step that starts a session first; its ID is then filled in here.
        </p>
      )}
      <Parameters operation={operation} />
      {file && <FileField file={file} />}
      {media && <FormFields media={media} />}
      {!form && requestBody && (
        <label className="wide">
          <span>JSON body</span>
          <textarea
            name={BODY_FIELD}
            rows={6}
            spellCheck={false}
            defaultValue={bodyText(requestBody.content['application/json']?.example)}
          />
        </label>
      )}
      <button className="button" type="submit">
        Run it here
      </button>
      <div className="outcome" role="status" />
    </form>
  );
}

/** The key for the page's calls, for a customer who wants to use one of their own. It leaves the page only with the calls. */
export function TryKey({ product }: { readonly product: CatalogueProduct }): ReactNode {
  return (
    <form className="try own-key" hidden>
      <label>
        <span>
          Test key <span className="quiet">optional</span>
        </span>
        <input id="own-key" placeholder="tg_test_…" maxLength={200} autoComplete="off" spellCheck={false} />
      </label>
      <p className="quiet">
        “Run it here” uses a test key: {hasSandbox(product) ? 'responses are sample data and' : 'the API itself answers, and its responses'}{' '}
        count towards the limits of test keys. Leave this empty to use a test key that is kept for this page; it subscribes you to{' '}
        {product.title} on {FREE_PLAN} if you are not subscribed yet. The dashboard makes the call, so the gateway sees the dashboard’s IP
        address and no Origin. <a href="/keys">Your keys</a>
      </p>
    </form>
  );
}
