export type Needs = 'production' | 'everything';
export interface LockedPackage {
  readonly version: string;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}
export function installationNeeded(
  locked: Readonly<Record<string, LockedPackage>>,
  installed: Readonly<Record<string, LockedPackage>> | undefined,
  needs: Needs,
): 'nothing' | 'add' | 'fresh';
export function freshInstallBrings(installed: Readonly<Record<string, LockedPackage>> | undefined, needs: Needs): Needs;
export function isInstalled(root: string, needs: Needs): boolean;
export function installDependencies(root: string, needs: Needs): void;
