export function readCommit(root: string): string | undefined;
export function chooseSample(wanted: string | undefined, commit: string | undefined): string;
