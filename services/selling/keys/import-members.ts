/** Members of a line about a key: columns of a file, or members of an object. */
export const IMPORT_MEMBERS = ['customer', 'key', 'sha256', 'name', 'products', 'plan', 'expires_at', 'rules'] as const;
export type ImportMember = (typeof IMPORT_MEMBERS)[number];

export const isImportMember = (name: string): name is ImportMember => (IMPORT_MEMBERS as readonly string[]).includes(name);

/** Maximum keys of one transaction. */
export const MAX_BATCH = 1_000;
