/** Rules of one key. Reading as many from text holds a process for some 30 ms. */
export const MAX_RULES = 1_000;
