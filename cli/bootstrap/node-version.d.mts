export function nodeTooOld(range: string, version: string): string | undefined;
