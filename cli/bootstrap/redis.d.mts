export function findProgram(name: string, path?: string): string | undefined;
export function ensureRedis(): void;
