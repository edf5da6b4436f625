import { z } from 'zod';

/** The part of Kong's bundled plugin of this name that is implemented here: removing parts of a request. */
export const REQUEST_TRANSFORMER = 'request-transformer';

/** Its priority among Kong's plugins. */
export const REQUEST_TRANSFORMER_PRIORITY = 801;

const names = z.array(z.string().min(1)).default([]);

/** The plugin's configuration. Anything else in it is refused, because the local gateway would not apply it. */
export const requestRemoval = z.strictObject({ remove: z.strictObject({ headers: names, querystring: names }) });

export type RequestRemoval = z.output<typeof requestRemoval>['remove'];
