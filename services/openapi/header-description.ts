/** A header of an answer, as OpenAPI describes one. */
export type HeaderDescription = {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' | 'number' };
  /** True where no such answer lacks it. */
  readonly required?: true;
};

export const text = (description: string): HeaderDescription => ({ description, schema: { type: 'string' } });
export const integer = (description: string): HeaderDescription => ({ description, schema: { type: 'integer' } });
export const always = (header: HeaderDescription): HeaderDescription => ({ ...header, required: true });
