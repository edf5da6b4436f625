import { type ParameterStyle, type ValueKind } from '../../openapi/parameter-style';

export const TRIED_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface TriedParameter extends ParameterStyle {
  readonly kind?: ValueKind | undefined;
}

/** What a form of the reference says of its call to the script that makes it. */
export interface TryCall {
  readonly product: string;
  readonly method: (typeof TRIED_METHODS)[number];
  readonly path: string;
  /** Each from the field that {@link fieldName} names. Other fields are parameters of the query with one text each. */
  readonly parameters?: readonly TriedParameter[];
  /** The API itself answers, and no sandbox. */
  readonly isLive?: true;
  /** Endpoints of the dashboard that make the call: the next one is asked when the one before refuses this reader. */
  readonly through: readonly string[];
  /** The body is a form of this type, of the fields whose names begin with {@link FORM_FIELD}. */
  readonly form?: 'application/x-www-form-urlencoded' | 'multipart/form-data';
  /** What is uploaded in a multipart form. */
  readonly file?: {
    readonly field: string;
    readonly mostBytes: number;
    /** Sent unless the reader chooses another. */
    readonly example?: { readonly filename: string; readonly contentType: string; readonly base64: string } | undefined;
  };
}

/** Fields of the form that are no parameters of the call. */
export const BODY_FIELD = ':body';
export const FILE_FIELD = ':file';
/** Before the name of a form's field. */
export const FORM_FIELD = ':form ';

/** The field of a parameter. A name may stand in two places, for example in the path and in the query. */
export const fieldName = ({ in: place, name }: Pick<ParameterStyle, 'in' | 'name'>): string =>
  place === 'query' ? name : `:${place} ${name}`;

/** The session that one step of a workflow opens and the next ones are asked for. */
export const SESSION_FIELD = 'sessionId';
