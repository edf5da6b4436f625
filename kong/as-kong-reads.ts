/**
 * How Kong reads kong.yml, whatever version the file claims: YAML 1.1, in which `off` is false and `010` is eight, with `<<` taking over
 * the members of another map. Read otherwise, a plugin that Kong finds switched off would look switched on.
 */
export const AS_KONG_READS = { schema: 'yaml-1.1', merge: true } as const;
