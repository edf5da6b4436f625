import { type FastifyServerOptions } from 'fastify';

const refuse = (): never => {
  throw new Error('a route has a JSON schema; ours are checked by zod');
};

/** Keeps Fastify from loading Ajv and a serializer. They are for JSON schemas, which no route here has. */
export const NO_JSON_SCHEMAS = {
  schemaController: { compilersFactory: { buildValidator: refuse, buildSerializer: refuse } },
} as const satisfies FastifyServerOptions;
