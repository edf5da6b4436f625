/**
 * Options for reading kong.yml as Kong does, whatever version the file claims: YAML 1.1, in which `off` is false and `010` is eight, and
 * `<<` merges another map. Otherwise a plugin that is off in Kong would seem to be on.
 */
export const AS_KONG_READS = { schema: 'yaml-1.1', merge: true } as const;
