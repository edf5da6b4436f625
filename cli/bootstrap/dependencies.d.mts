export interface LockedPackage {
  readonly version: string;
  readonly optional?: boolean;
}
export function satisfiesLock(
  locked: Readonly<Record<string, LockedPackage>>,
  installed: Readonly<Record<string, LockedPackage>> | undefined,
): boolean;
export function isInstalled(root: string): boolean;
export function installDependencies(root: string): void;
