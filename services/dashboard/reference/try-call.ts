import { type ParameterStyle, type ValueKind } from '../../openapi/parameter-style';

export const TRIED_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface TriedParameter extends ParameterStyle {
  readonly kind?: ValueKind | undefined;
}

/** What a form of the reference tells the script that makes its call. */
export interface TryCall {
  readonly product: string;
  readonly method: (typeof TRIED_METHODS)[number];
  readonly path: string;
  /** Each from the field that {@link fieldName} names. Other fields are query parameters with one value each. */
  readonly parameters?: readonly TriedParameter[];
  /** The API itself responds, not a sandbox. */
  readonly isLive?: true;
  /** Endpoints of the dashboard that can make the call: the next one is tried if the one before refuses this reader. */
  readonly through: readonly string[];
  /** Media type of the form that is sent as the body, made of the fields whose names begin with {@link FORM_FIELD}. */
  readonly form?: 'application/x-www-form-urlencoded' | 'multipart/form-data';
  /** What is uploaded in a multipart form. */
  readonly file?: {
    readonly field: string;
    readonly mostBytes: number;
    /** Sent unless the reader chooses another. */
    readonly example?: { readonly filename: string; readonly contentType: string; readonly base64: string } | undefined;
  };
}

/** Form fields that are not parameters of the call. */
export const BODY_FIELD = ':body';
export const FILE_FIELD = ':file';
/** Prefix of the names of a form's fields. */
export const FORM_FIELD = ':form ';

/** The field of a parameter. A name may stand in two places, for example in the path and in the query. */
export const fieldName = ({ in: place, name }: Pick<ParameterStyle, 'in' | 'name'>): string =>
  place === 'query' ? name : `:${place} ${name}`;

/** The session that one step of a workflow opens and the next steps need. */
export const SESSION_FIELD = 'sessionId';
