export interface ProcessIdentity {
  readonly pid: number;
  readonly startedAt: string;
}
export function identifyProcess(pid: number): ProcessIdentity;
export function isSameProcess(identity: ProcessIdentity): boolean;
export function takeLock(file: string): { readonly release: () => void } | { readonly heldBy: number };
export function exclusively<T>(file: string, work: () => T | Promise<T>): Promise<T>;
