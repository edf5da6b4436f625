export function hasProtoTypes(root: string): boolean;
export function buildProtoTypes(root: string): void;
