/** Maximum rules of one key. Parsing this many takes a process some 30 ms. */
export const MAX_RULES = 1_000;
